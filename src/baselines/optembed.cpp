#include "baselines/optembed.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/full.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/stopwatch.h"
#include "baselines/method_training.h"
#include "search/method.h"
#include "train/evaluator.h"

namespace bet {

OptEmbedGates::OptEmbedGates(const ModelParameters& table, std::uint64_t num_users,
                             std::uint32_t tables, const Options& options)
    : options_(options),
      num_users_(static_cast<std::int64_t>(num_users)),
      num_items_(table.num_rows() - num_users_),
      thresholds_(at::zeros({1, 2}, table.values.options())),
      leaf_(thresholds_.detach().set_requires_grad(true)),
      columns_(
          at::floor_divide(at::arange(table.stride(), table.values.options().dtype(at::kShort)),
                           static_cast<std::int64_t>(tables))),
      sizes_(at::full({2}, static_cast<std::int64_t>(table.models.at(0).width / tables),
                      table.sizes.options())) {}

at::Tensor OptEmbedGates::relative_norms(const at::Tensor& values, std::int64_t num_users) {
  const at::Tensor norms = values.abs().sum(1);
  const at::Tensor users = norms.slice(0, 0, num_users);
  const at::Tensor items = norms.slice(0, num_users);
  constexpr double kLeast = 1e-12;  // a field of nothing but zeros
  return at::cat({users / users.detach().mean().clamp_min(kLeast),
                  items / items.detach().mean().clamp_min(kLeast)});
}

at::Tensor OptEmbedGates::excess(const at::Tensor& values, const at::Tensor& thresholds) const {
  // Without indexing, whose gradient a GPU sums in an undefined order.
  return relative_norms(values, num_users_) -
         at::cat({thresholds.select(1, 0).expand({num_users_}),
                  thresholds.select(1, 1).expand({num_items_})});
}

at::Tensor OptEmbedGates::slope(const at::Tensor& x) {
  const at::Tensor distance = x.abs();
  const at::Tensor tail =
      at::where(distance <= 1.0, at::full({}, 0.4, x.options()), at::zeros({}, x.options()));
  return at::where(distance <= 0.4, 2.0 - 4.0 * distance, tail);
}

at::Tensor OptEmbedGates::filtered(const at::Tensor& values) {
  const at::Tensor x = excess(values, leaf_);
  const at::Tensor held = x.detach();
  const at::Tensor gate = held.gt(0).to(at::kFloat) + slope(held) * (x - held);
  const at::Tensor sizes =
      at::cat({sizes_.select(0, 0).expand({num_users_}), sizes_.select(0, 1).expand({num_items_})});
  const at::Tensor columns = columns_.unsqueeze(0).lt(sizes.unsqueeze(1));
  return values * gate.unsqueeze(1) * columns;
}

void OptEmbedGates::update(std::span<const at::Tensor> gradients, const at::Tensor& /*loss*/) {
  const at::Tensor gradient = gradients[0] - options_.alpha * (-thresholds_).exp();
  thresholds_.sub_(gradient, options_.learning_rate);
}

void OptEmbedGates::set_sizes(const FieldSizes& sizes) {
  sizes_.select(0, 0).fill_(static_cast<std::int64_t>(sizes[0]));
  sizes_.select(0, 1).fill_(static_cast<std::int64_t>(sizes[1]));
}

at::Tensor OptEmbedGates::passing(const at::Tensor& values) const {
  return excess(values, thresholds_).gt(0).to(at::kByte).cpu();
}

std::vector<FieldSizes> SizeEvolution::children() const {
  constexpr std::size_t kDrawn = 20;
  constexpr std::size_t kParents = 15;
  constexpr std::size_t kMutated = 10;
  constexpr std::size_t kCrossed = 10;
  constexpr double kMutation = 0.1;
  RandomStream random(seed_, "optembed evolution", generation_);
  const auto any_size = [&] { return 1 + random.below(largest_); };
  std::vector<FieldSizes> born;
  if (ranking_.empty()) {
    for (std::size_t i = 0; i < kDrawn; ++i) born.push_back({any_size(), any_size()});
    return born;
  }
  const auto num_parents = static_cast<std::uint32_t>(std::min(kParents, ranking_.size()));
  const auto parent = [&] { return ranking_[random.below(num_parents)].second; };
  for (std::size_t i = 0; i < kMutated; ++i) {
    FieldSizes child = parent();
    for (std::uint32_t& size : child) {
      if (random.uniform() < kMutation) size = any_size();
    }
    born.push_back(child);
  }
  // With two fields there is only one way to cross.
  for (std::size_t i = 0; i < kCrossed; ++i) born.push_back({parent()[0], parent()[1]});
  return born;
}

bool SizeEvolution::advance(const Score& score) {
  bool whole = true;
  for (const FieldSizes& child : children()) {
    const bool is_scored = std::any_of(ranking_.begin(), ranking_.end(),
                                       [&](const Scored& other) { return other.second == child; });
    if (is_scored) continue;
    const std::optional<double> found = score(child);
    whole = found.has_value();
    if (!whole) break;
    ranking_.emplace_back(*found, child);
  }
  std::sort(ranking_.begin(), ranking_.end(), [](const Scored& a, const Scored& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (whole) ++generation_;
  return whole;
}

void SizeEvolution::restore(std::uint32_t generation, std::vector<Scored> ranking) {
  generation_ = generation;
  ranking_ = std::move(ranking);
}

namespace {

// Without the task's loss thresholds would end above this share of the pretrained rows' norms. The
// best sizes are about four fifths of all columns, and the models in the BET paper keep 18 to 33 %.
constexpr double kQuantile = 0.7;

OptEmbedGates::Options options_for(const Pretrained& full, const TableShape& shape) {
  at::Tensor norms =
      OptEmbedGates::relative_norms(full.table.values, static_cast<std::int64_t>(shape.num_users))
          .contiguous();
  float* const begin = norms.data_ptr<float>();
  float* const quantile =
      begin + static_cast<std::int64_t>(kQuantile * static_cast<double>(norms.numel() - 1));
  std::nth_element(begin, quantile, begin + norms.numel());
  OptEmbedGates::Options options;
  options.alpha = 1;
  // dt = rate * alpha * exp(-t) a step: exp(t) grows evenly.
  options.learning_rate = std::expm1(static_cast<double>(*quantile)) /
                          (options.alpha * static_cast<double>(full.best_length));
  return options;
}

// The search: the training of the supernet, then the evolution.
class OptEmbedSearch {
 public:
  OptEmbedSearch(const MethodInput& input, const Pretrained& full)
      : input_(input),
        num_steps_(full.best_length),
        plan_(full_plan(input.shape)),
        model_(input.graph, std::span(&plan_, 1), input.training.model,
               input.training.schedule.of_length(num_steps_)),
        gates_(model_.table(), input.shape.num_users, input.shape.tables,
               options_for(full, input.shape)),
        evolution_(input.shape.max_dim, input.training.model.seed) {
    model_.use(gates_);
    draw_sizes();
  }

  Proposal run() {
    Proposal proposal;
    const auto after_step = [&] {
      draw_sizes();
      return false;
    };
    proposal.stopped = !train_method(input_, model_,
                                     {.phase = "supernet",
                                      .num_steps = num_steps_,
                                      .after_step = after_step,
                                      .save = [&](Checkpoint& state) { save(state); },
                                      .restore = [&](const Checkpoint& state) { restore(state); }});
    log_gates();
    if (proposal.stopped) {  // no time for an evolution: all columns
      const std::uint32_t all = input_.shape.max_dim;
      evolution_.restore(SizeEvolution::kGenerations + 1, {{0.0, {all, all}}});
    }
    if (!evolve()) proposal.stopped = true;
    proposal.plans = {chosen_plan()};
    proposal.trainings = 1;
    proposal.steps = model_.num_steps();
    return proposal;
  }

 private:
  // Draws the sizes of the next step: one for each field, for the whole table.
  void draw_sizes() {
    RandomStream random(input_.training.model.seed, "optembed sizes", model_.num_steps());
    const std::uint32_t users = 1 + random.below(input_.shape.max_dim);
    gates_.set_sizes({users, 1 + random.below(input_.shape.max_dim)});
  }

  bool evolve() {
    const Evaluator evaluator(input_.split, HeldOut::kValidation, input_.graph);
    const auto score = [&](const FieldSizes& sizes) -> std::optional<double> {
      const bool needed = evolution_.ranking().empty();  // a plan needs one score
      leave_if_asked(input_.hooks);                      // it resumes from the last saved state
      if (!needed && input_.hooks.stop && input_.hooks.stop()) return std::nullopt;
      gates_.set_sizes(sizes);
      const Ranking ranking = model_.ranking();
      return evaluator.measure(ranking.vectors, ranking.models[0]).score();
    };
    Stopwatch since_save;
    while (!evolution_.is_over() && !stopped_) {
      stopped_ = !evolution_.advance(score);
      if (since_save.seconds() >= input_.hooks.save_seconds || evolution_.is_over() || stopped_) {
        Checkpoint state = input_.state.read().value();  // with the supernet, which is frozen
        save(state);
        input_.state.write(std::move(state));
        since_save.restart();
      }
      if (!input_.hooks.progress) continue;
      char detail[48];
      std::snprintf(detail, sizeof(detail), "best validation score %.4f", best().first);
      input_.hooks.progress({"evolution", static_cast<double>(evolution_.generation()),
                             static_cast<double>(SizeEvolution::kGenerations + 1), detail});
    }
    if (input_.hooks.log) {
      char text[96];
      std::snprintf(text, sizeof(text), "optembed: sizes %u and %u, validation %.5f, %zu scored",
                    best().second[0], best().second[1], best().first, evolution_.ranking().size());
      input_.hooks.log(text);
    }
    return !stopped_;
  }

  const SizeEvolution::Scored& best() const { return evolution_.ranking().front(); }

  SizePlan chosen_plan() const {
    const at::Tensor passing = gates_.passing(model_.table().values);
    const auto* const passes = passing.data_ptr<std::uint8_t>();
    const FieldSizes sizes = best().second;
    const TableShape& shape = input_.shape;
    BET_CHECK(passing.any().item<bool>(),
              "the gates of optembed have pruned every row, so no model is left");
    std::vector<std::uint16_t> rows;
    for (std::uint64_t row = 0; row < shape.num_rows(); ++row) {
      const std::uint32_t size = sizes[row < shape.num_users ? 0 : 1];
      rows.push_back(static_cast<std::uint16_t>(passes[row] != 0 ? size : 0));
    }
    return {shape, rows};
  }

  void log_gates() const {
    if (!input_.hooks.log) return;
    const at::Tensor thresholds = gates_.thresholds().cpu();
    const at::Tensor passing = gates_.passing(model_.table().values).to(at::kFloat);
    const auto users = static_cast<std::int64_t>(input_.shape.num_users);
    char text[128];
    std::snprintf(text, sizeof(text),
                  "optembed: thresholds %.4f and %.4f; %.4f of the users pass, %.4f of the items",
                  thresholds.data_ptr<float>()[0], thresholds.data_ptr<float>()[1],
                  passing.slice(0, 0, users).mean().item<double>(),
                  passing.slice(0, users).mean().item<double>());
    input_.hooks.log(text);
  }

  void save(Checkpoint& state) const {
    state.tensors["thresholds"] = gates_.thresholds().cpu();
    state.numbers["generation"] = evolution_.generation();
    state.numbers["evolution stopped"] = stopped_ ? 1 : 0;
    const auto& ranking = evolution_.ranking();
    state.numbers["scored"] = static_cast<double>(ranking.size());
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      const std::string name = "scored " + std::to_string(i);
      state.numbers[name] = ranking[i].first;
      state.numbers[name + " users"] = ranking[i].second[0];
      state.numbers[name + " items"] = ranking[i].second[1];
    }
  }

  void restore(const Checkpoint& state) {
    gates_.thresholds().copy_(state.tensor("thresholds"));
    stopped_ = state.number("evolution stopped") != 0;
    std::vector<SizeEvolution::Scored> ranking;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.number("scored")); ++i) {
      const std::string name = "scored " + std::to_string(i);
      ranking.emplace_back(state.number(name),
                           FieldSizes{static_cast<std::uint32_t>(state.number(name + " users")),
                                      static_cast<std::uint32_t>(state.number(name + " items"))});
    }
    evolution_.restore(static_cast<std::uint32_t>(state.number("generation")), std::move(ranking));
    draw_sizes();
  }

  const MethodInput& input_;
  std::uint64_t num_steps_;
  SizePlan plan_;
  ModelInTraining model_;
  OptEmbedGates gates_;
  SizeEvolution evolution_;
  bool stopped_ = false;  // the evolution, by the user
};

Proposal propose_optembed(const MethodInput& input) {
  return OptEmbedSearch(input, input.pretrained()).run();
}

}  // namespace

// OptEmbed. The method's own: a supernet with gates for rows, whose thresholds are learnt, trained
// under sizes drawn anew each step; an evolution over the sizes on the frozen supernet, by
// validation; retraining of the rows that pass at the sizes that win. Its size cannot be asked for:
// it comes of alpha, the norms and a fitness of accuracy alone. Our adaptation: two fields, users
// and items, and one pair of sizes a step for the whole table; the supernet is trained as long as
// the full-size model; norms in units of their field's mean, so that the surrogate's range of 1
// covers them whatever the training's scale; alpha and the thresholds' learning rate set by the
// norms of the pretrained table. The authors' evolution mixes up scores and candidates; this one
// does not.
extern const MethodKind kOptEmbed;
const MethodKind kOptEmbed = {.name = "optembed",
                              .about = "OptEmbed, learnt gates and evolved sizes",
                              .budget = BudgetUse::kNone,
                              .empty_rows = true,
                              .pretrains = true,
                              .trains = true,
                              .any_order = true,
                              .propose = propose_optembed};

}  // namespace bet
