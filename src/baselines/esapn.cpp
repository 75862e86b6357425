#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.h"
#include "base/random.h"
#include "baselines/growing_table.h"
#include "baselines/method_training.h"
#include "baselines/size_policy.h"
#include "model/pair_scores.h"
#include "search/method.h"

namespace bet {
namespace {

constexpr std::int64_t kPopularities = 16;  // occurrences so far: 1, 2-3, 4-7, ...

// The authors' list of sizes up to the table's width, which is its last size.
std::vector<std::uint32_t> candidate_sizes(const TableShape& shape) {
  std::vector<std::uint32_t> sizes;
  for (const std::uint32_t size : {2U, 4U, 8U, 16U, 64U, 128U}) {
    if (size >= shape.min_dim && size < shape.max_dim) sizes.push_back(size);
  }
  sizes.push_back(shape.max_dim);
  BET_CHECK(sizes.size() > 1,
            "--method esapn begins with sizes of 2 to 64, none of which is at "
            "least ",
            shape.min_dim, " and below ", shape.max_dim);
  return sizes;
}

// The stream of interactions: this many passes over them, in as many batches as there are steps.
constexpr std::uint64_t kPasses = 2;

Schedule stream_schedule(const MethodInput& input, std::uint64_t num_steps) {
  Schedule schedule = input.training.schedule;
  schedule.batch_kind = BatchKind::kInteractions;
  schedule.batch_size = static_cast<std::uint32_t>(
      (kPasses * input.split.counts().train + num_steps - 1) / num_steps);
  schedule.user_passes = 0;
  schedule.pool = 1;
  schedule.max_steps = num_steps;
  return schedule;
}

// What ESAPN does between the steps of the model in training.
class Esapn {
 public:
  Esapn(const MethodInput& input, ModelInTraining& model, const Schedule& schedule)
      : input_(input),
        model_(model),
        schedule_(schedule),
        num_entries_(model.batch().size()),
        table_(model.table(), input.shape, candidate_sizes(input.shape),
               input.params ? std::optional(*input.params / input.shape.tables) : std::nullopt),
        occurrences_(at::zeros({model.table().num_rows()}, model.table().values.options())),
        user_policy_(policy_options(), input.training.model.seed, "esapn users",
                     input.graph.device()),
        item_policy_(policy_options(), input.training.model.seed, "esapn items",
                     input.graph.device()),
        sampler_(input.graph, input.training.model.seed),
        earlier_(model.batch().size(), 1, model.table().num_rows(), input.graph.device()),
        record_(at::zeros({static_cast<std::int64_t>(sizeof(StepRecord))},
                          model.table().values.options().dtype(at::kByte))) {}

  void after_step() {
    const Batch& batch = model_.batch();
    first_slots_ = batch.slots.to(at::kLong).index_select(
        0, batch.offsets.slice(0, 0, -1).clamp_max(std::int64_t{batch.num_slots()} - 1));
    enlarge_rows();
    if (model_.num_steps() > 1) teach_policies();
  }

  SizePlan plan() const { return table_.plan(); }

  // For the log, by side: the share of parameters kept and the mean size by popularity.
  std::array<std::string, 2> summary() const;

  void save(Checkpoint& state) const {
    table_.save(state);
    state.tensors["occurrences"] = occurrences_.cpu().unsqueeze(0);
    user_policy_.save(state, "user policy");
    item_policy_.save(state, "item policy");
  }
  void restore(const Checkpoint& state) {
    table_.restore(state);
    occurrences_.copy_(state.tensor("occurrences")[0]);
    user_policy_.restore(state, "user policy");
    item_policy_.restore(state, "item policy");
  }

 private:
  SizePolicy::Options policy_options() const {
    SizePolicy::Options options;
    options.num_popularities = kPopularities;
    options.num_sizes = static_cast<std::int64_t>(candidate_sizes(input_.shape).size());
    options.max_steps = schedule_.max_steps;
    return options;
  }

  // Rows of the last step's batch, by entry.
  at::Tensor users() const { return model_.batch().rows.slice(0, 0, num_entries_); }
  at::Tensor items() const { return model_.batch().rows.slice(0, num_entries_, 2 * num_entries_); }
  at::Tensor negatives() const {
    return model_.batch().rows.slice(0, 2 * num_entries_, 3 * num_entries_);
  }

  // By row; -1 if it has not occurred.
  at::Tensor popularities() const {
    constexpr double kRounding = 1e-6;  // of the logarithm of a power of two
    return (occurrences_.log2() + kRounding).floor().clamp(-1, kPopularities - 1).to(at::kLong);
  }

  // Decisions by row from decisions by entry; the first entry of a row decides.
  at::Tensor by_row(const at::Tensor& of_users, const at::Tensor& of_items) const {
    const at::Tensor has_slot =
        model_.batch().touched.gt(0).logical_and(first_slots_.lt(2 * num_entries_));
    return at::cat({of_users, of_items})
        .index_select(0, first_slots_.clamp_max(2 * num_entries_ - 1))
        .logical_and(has_slot);
  }

  void count_occurrences() {
    const auto& options = occurrences_.options();
    const at::Tensor by_slot = at::zeros({3 * num_entries_, row_stride(1)}, options);
    by_slot.slice(0, 0, 2 * num_entries_).fill_(1);  // not the negatives
    occurrences_.add_(model_.batch().sum_slots(by_slot, at::ones({1}, options)).select(1, 0));
  }

  at::Tensor preferences(const SizePolicy& policy, const at::Tensor& rows) const {
    return policy.preferences(popularities().index_select(0, rows),
                              table_.size_indices().index_select(0, rows));
  }

  void enlarge_rows() {
    const c10::AutoGradMode no_gradient(false);
    count_occurrences();
    const at::Tensor wanted =
        by_row(preferences(user_policy_, users()).gt(0), preferences(item_policy_, items()).gt(0));
    // A row grows at most once for every doubling of its popularity.
    table_.grow(wanted.logical_and(table_.size_indices().lt(popularities())),
                occurrences_.to(at::kLong));
  }

  // The BPR loss of each entry.
  at::Tensor losses_of(const ModelParameters& table) const {
    const c10::AutoGradMode no_gradient(false);
    const Ranking ranking = model_.backbone().ranking(table);
    const auto scores = [&](const at::Tensor& of_items) {
      return pair_scores(ranking.vectors, ranking.models[0], users(), of_items);
    };
    return at::softplus(scores(negatives()) - scores(items()));
  }

  void teach_policies() {
    const at::Tensor enlarged = sampled_actions();
    GrowingTable::Enlarged tried = table_.enlarged(enlarged);
    train_gained_columns(tried);
    const at::Tensor gains = losses_of(model_.table()) - losses_of(tried.table);
    // The mean is the common effect of all enlargements and no row's own.
    const at::Tensor rewards = gains - gains.mean();
    const at::Tensor of_rows = popularities();
    const auto teach = [&](SizePolicy& policy, const at::Tensor& rows) {
      policy.learn(of_rows.index_select(0, rows), table_.size_indices().index_select(0, rows),
                   enlarged.index_select(0, rows), rewards);
    };
    teach(user_policy_, users());
    teach(item_policy_, items());
  }

  at::Tensor sampled_actions() const {
    const c10::AutoGradMode no_gradient(false);
    RandomStream random(input_.training.model.seed, "esapn actions", model_.num_steps());
    std::vector<float> draws(static_cast<std::size_t>(2 * num_entries_));
    for (float& draw : draws) draw = static_cast<float>(random.uniform());
    const at::Tensor uniform =
        at::from_blob(draws.data(), {2 * num_entries_}, at::TensorOptions(at::kFloat))
            .clone()
            .to(occurrences_.device());
    const auto enlarges = [&](const SizePolicy& policy, const at::Tensor& rows,
                              std::int64_t first) {
      return at::sigmoid(preferences(policy, rows)).gt(uniform.narrow(0, first, num_entries_));
    };
    return by_row(enlarges(user_policy_, users(), 0),
                  enlarges(item_policy_, items(), num_entries_));
  }

  // One step down the gradient of the gained columns, as long as the first learning rate whatever
  // their number and the current rate: late batches are to teach as much as early ones. The
  // gradient is that of the batch before the one that judges: on its own batch every row would
  // gain.
  void train_gained_columns(GrowingTable::Enlarged& tried) {
    StepRecord record;
    record.steps = model_.num_steps() - 2;
    record_.copy_(at::from_blob(&record, {static_cast<std::int64_t>(sizeof(record))},
                                at::TensorOptions(at::kByte)));
    const auto* const device_record = static_cast<const StepRecord*>(record_.data_ptr());
    model_.executor().run_concurrently(
        [&] { sampler_.draw(device_record, schedule_.batch_kind, earlier_); });
    ModelParameters parameters = tried.table;
    parameters.values = tried.table.values.detach().set_requires_grad(true);
    const at::Tensor loss =
        model_.backbone().loss(parameters, {model_.executor(), earlier_, device_record});
    const at::Tensor gradient =
        torch::autograd::grad({loss}, {parameters.values}, {at::ones_like(loss)})[0];
    const at::Tensor way = gradient * tried.gained;
    constexpr double kNothing = 1e-20;  // for rows that gain no column, whose step is zero
    const at::Tensor lengths = way.norm(2, 1, /*keepdim=*/true).clamp_min(kNothing);
    tried.table.values.sub_(way / lengths, schedule_.learning_rate);
  }

  const MethodInput& input_;
  ModelInTraining& model_;
  const Schedule& schedule_;
  std::int64_t num_entries_;  // of a batch
  GrowingTable table_;
  at::Tensor occurrences_;  // float [rows], so far, as users and positives; exact up to 2^24
  SizePolicy user_policy_;
  SizePolicy item_policy_;
  BatchSampler sampler_;
  Batch earlier_;
  at::Tensor record_;       // a StepRecord's bytes, on the device
  at::Tensor first_slots_;  // int64 [rows], in the last step's batch; any for rows without a slot
};

std::array<std::string, 2> Esapn::summary() const {
  const at::Tensor popularity = popularities().cpu();
  const std::int64_t* const of_row = popularity.data_ptr<std::int64_t>();
  const SizePlan sizes = plan();
  std::array<std::string, 2> lines;
  const auto write = [&](std::string& line, std::span<const std::uint16_t> side,
                         const std::int64_t* bucket) {
    std::array<std::uint64_t, kPopularities + 1> rows{};
    std::array<std::uint64_t, kPopularities + 1> sums{};
    std::uint64_t total = 0;
    for (std::size_t row = 0; row < side.size(); ++row) {
      const auto index = static_cast<std::size_t>(bucket[row] + 1);
      ++rows[index];
      sums[index] += side[row];
      total += side[row];
    }
    char part[64];
    std::snprintf(
        part, sizeof(part), "kept %.4f; by occurrences",
        static_cast<double>(total) / static_cast<double>(side.size()) / input_.shape.max_dim);
    line = part;
    for (std::size_t index = 0; index < rows.size(); ++index) {
      if (rows[index] == 0) continue;
      std::snprintf(part, sizeof(part), "  %llu: %.1f (%llu)",
                    index == 0 ? 0ULL : 1ULL << (index - 1),
                    static_cast<double>(sums[index]) / static_cast<double>(rows[index]),
                    static_cast<unsigned long long>(rows[index]));
      line += part;
    }
  };
  write(lines[0], sizes.user_sizes(), of_row);
  write(lines[1], sizes.item_sizes(), of_row + sizes.user_sizes().size());
  return lines;
}

Proposal propose_esapn(const MethodInput& input) {
  const std::uint64_t num_steps = input.pretrained().best_length;
  const Schedule schedule = stream_schedule(input, num_steps);
  const SizePlan full = full_plan(input.shape);
  ModelInTraining model(input.graph, std::span(&full, 1), input.training.model, schedule);
  Esapn search(input, model, schedule);
  const auto after_step = [&] {
    search.after_step();
    return false;
  };
  const bool whole =
      train_method(input, model,
                   {.phase = "grow",
                    .num_steps = num_steps,
                    .after_step = after_step,
                    .save = [&](Checkpoint& state) { search.save(state); },
                    .restore = [&](const Checkpoint& state) { search.restore(state); }});
  if (input.hooks.log) {
    const std::array<std::string, 2> lines = search.summary();
    input.hooks.log("esapn: users " + lines[0]);
    input.hooks.log("esapn: items " + lines[1]);
  }
  Proposal proposal;
  proposal.plans = {search.plan()};
  proposal.trainings = 1;
  proposal.steps = model.num_steps();
  proposal.stopped = !whole;
  return proposal;
}

}  // namespace

// ESAPN. The method's own: sizes from its list that begin at the smallest and only grow; for each
// side a policy of popularity and size, taught by REINFORCE on what sampled enlargements would do
// to the losses of the last batch, and asked by argmax about the entities of every batch; no word
// of memory in the reward. Our adaptation:
// * Enlarging shows columns of one full-width table; there are no linear maps between sizes.
// * BPR losses of user, positive and negative; the negative is not judged. NCF's two tables alike.
// * A new size as such changes no loss: the authors copy an enlarged row through the very map that
//   it went through before, and columns as they were drawn are next to nothing. So gained columns
//   are judged after one step of theirs down the gradient of the batch before. A reward is by how
//   much that lowers the loss of the same pair (the authors' `last_loss`), less the batch's mean:
//   the mean of an entity's last five losses (`ave_loss`) varies by some hundred times of what a
//   size brings.
// * The policies begin without a preference, and nothing grows before rewards speak for it.
// * Rewards nearly always do, because size costs nothing in them; so popularity decides how often
//   an entity is asked: it grows once at most for every doubling of its occurrences.
// * Decisions follow the step on a batch instead of preceding it, because it is drawn in the step;
//   an entity that stands in a batch several times is decided once. Batches of two passes over the
//   interactions (the authors have one) in the steps that were best for the full-size model, at the
//   schedule's own rate: one pass kept 11 % on Gowalla, below what the paper reports.
// * A budget is a cap: of growth that would pass it, the most frequent entities have theirs first.
extern const MethodKind kEsapn;
const MethodKind kEsapn = {.name = "esapn",
                           .about = "ESAPN, sizes that grow by a policy",
                           .budget = BudgetUse::kCap,
                           .least_size = 2,
                           .pretrains = true,
                           .trains = true,
                           .any_order = true,
                           .propose = propose_esapn};

}  // namespace bet
