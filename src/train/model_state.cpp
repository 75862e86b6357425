#include "train/model_state.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "base/error.h"
#include "model/dense_weights.h"
#include "plan/column_slice.h"
#include "train/adam_state.h"

namespace bet {
namespace {

// Steps that may be queued on the GPU before the host checks their losses.
constexpr std::uint64_t kStepsInFlight = 64;

void save_record(Checkpoint& checkpoint, const std::string& name, const StepRecord& record) {
  checkpoint.numbers[name + " steps"] = static_cast<double>(record.steps);
  checkpoint.numbers[name + " loss"] = record.loss_sum;
}

StepRecord load_record(const Checkpoint& checkpoint, const std::string& name) {
  StepRecord record;
  record.steps = static_cast<std::uint64_t>(checkpoint.number(name + " steps"));
  record.loss_sum = checkpoint.number(name + " loss");
  return record;
}

}  // namespace

ModelInTraining::ModelInTraining(const Graph& graph, std::span<const SizePlan> plans,
                                 const ModelOptions& options, const Schedule& schedule)
    : ModelInTraining(graph, initial_parameters(options, graph, plans), options, schedule) {}

ModelInTraining::ModelInTraining(const Graph& graph, const ModelParameters& table,
                                 const ModelOptions& options, const Schedule& schedule)
    : executor_(executor_for(graph.device())),
      options_(options),
      schedule_(schedule),
      backbone_(make_backbone(options, graph)),
      table_(table.to(graph.device())),
      adam_(table_, schedule.adam, schedule.max_steps,
            [&](std::uint64_t step) { return options.losses[0].rate * schedule.rate_after(step); }),
      sampler_(graph, options.seed),
      batch_(schedule.entries_for(sampler_.num_users()), schedule.pool_of(options.losses[0].kind),
             table_.num_rows(), graph.device()),
      ones_(at::ones({static_cast<std::int64_t>(table_.models.size())}, table_.values.options())),
      loop_(executor_.make_loop()),
      taken_(table_.models.size()) {
  BET_CHECK(table_.num_rows() == graph.num_nodes(), "a plan of ", table_.num_rows(),
            " rows for a graph of ", graph.num_nodes(), " users and items");
  schedule_.validate();
  for (const LossOptions& loss : options.losses) {
    BET_CHECK(loss.rate == options.losses[0].rate, "rates ", options.losses[0].rate, " and ",
              loss.rate, " side by side");
    BET_CHECK(schedule.pool_of(loss.kind) == schedule.pool_of(options.losses[0].kind),
              "losses with pools of ", schedule.pool_of(options.losses[0].kind), " and ",
              schedule.pool_of(loss.kind), " negatives side by side");
  }
  if (!options_.l2) options_.l2 = find_backbone(options.backbone).l2;
  if (!table_.weights.defined()) return;
  weights_ = weights_as_table(table_.weights);
  weights_adam_.emplace(weights_, schedule.adam, schedule.max_steps, [&](std::uint64_t step) {
    return options.losses[0].rate * schedule.weights_rate * schedule.rate_after(step);
  });
}

void ModelInTraining::use(TableFilter& filter) {
  BET_CHECK(options_.ranks == nullptr,
            "a method that filters the table cannot train it over ranks");
  filter_ = &filter;
}

void ModelInTraining::run_step() {
  executor_.run_concurrently(
      [this] { sampler_.draw(adam_.device_record(), schedule_.batch_kind, batch_); });
  ModelParameters parameters = table_;
  parameters.values = table_.values.detach().set_requires_grad(true);
  std::vector<at::Tensor> inputs = {parameters.values};
  if (filter_ != nullptr) {
    const std::vector<at::Tensor> own = filter_->parameters();
    inputs.insert(inputs.end(), own.begin(), own.end());
    parameters.values = filter_->filtered(parameters.values);
  }
  if (weights_adam_) {
    parameters.weights = table_.weights.detach().set_requires_grad(true);
    inputs.push_back(parameters.weights);
  }
  const at::Tensor loss = backbone_->loss(parameters, {executor_, batch_, adam_.device_record()});
  std::vector<at::Tensor> gradients = torch::autograd::grad({loss}, inputs, {ones_});
  // A value that is not kept is zero, and without a gradient it stays so.
  if (table_.kept.defined()) gradients[0].mul_(table_.kept);
  if (filter_ != nullptr) {
    gradients[0] = gradients[0].contiguous();
    const std::size_t own = filter_->parameters().size();
    filter_->update(std::span(gradients).subspan(1, own), loss);
  }
  // The regulariser l2 * sum of the batch's squared rows / size comes out of Adam's pass.
  if (options_.ranks == nullptr) {
    adam_.step(table_, gradients[0], {&batch_, *options_.l2}, loss);
  } else {
    step_with_ranks(gradients[0], loss);
  }
  if (weights_adam_) weights_adam_->step(weights_, gradients.back(), {}, loss);
}

// Each rank knows the regulariser of its own columns: the record gets that of all.
void ModelInTraining::step_with_ranks(const at::Tensor& gradient, const at::Tensor& loss) {
  StepRecord record = adam_.records().at(0);
  const double loss_before = record.loss_sum;
  record.loss_sum = 0;
  adam_.set_records({record});
  adam_.step(table_, gradient, {&batch_, *options_.l2}, at::zeros_like(loss));
  record = adam_.records().at(0);
  double total = record.loss_sum;
  options_.ranks->sum(std::span(&total, 1));
  total += loss.item<float>();
  if (!std::isfinite(total) || record.bad_step != 0) {
    record.bad_step = record.steps;
    record.bad_loss = total;
  }
  record.loss_sum = loss_before + total;
  adam_.set_records({record});
}

void ModelInTraining::step() {
  BET_CHECK(num_steps_ < schedule_.max_steps, "step ", num_steps_ + 1, " of a schedule of ",
            schedule_.max_steps);
  loop_->run([this] { run_step(); });
  ++num_steps_;
  if (table_.values.is_cpu() || num_steps_ % kStepsInFlight == 0) check_losses();
}

void ModelInTraining::check_losses() const {
  for (const StepRecord& record : adam_.records()) {
    BET_CHECK(record.bad_step == 0, "the loss of step ", record.bad_step, " is ", record.bad_loss,
              " (learning rate ", schedule_.rate_after(record.bad_step - 1), ")");
  }
}

std::vector<double> ModelInTraining::take_mean_losses() {
  check_losses();
  const std::vector<StepRecord> now = adam_.records();
  std::vector<double> means;
  for (std::size_t model = 0; model < now.size(); ++model) {
    const auto steps = static_cast<double>(now[model].steps - taken_[model].steps);
    means.push_back(steps > 0 ? (now[model].loss_sum - taken_[model].loss_sum) / steps : 0.0);
  }
  taken_ = now;
  return means;
}

Ranking ModelInTraining::ranking() const {
  const c10::AutoGradMode no_gradient(false);
  if (filter_ == nullptr) return backbone_->ranking(table_);
  ModelParameters filtered = table_;
  filtered.values = filter_->filtered(table_.values).contiguous();
  return backbone_->ranking(filtered);
}

Checkpoint ModelInTraining::state() {
  Checkpoint state;
  save_moments(state, "", table_.values, adam_);
  if (weights_adam_) save_moments(state, "weights", weights_.values, *weights_adam_);
  const std::vector<StepRecord> records = adam_.records();
  state.numbers["models"] = static_cast<double>(records.size());
  for (std::size_t model = 0; model < records.size(); ++model) {
    save_record(state, "record " + std::to_string(model), records[model]);
    save_record(state, "taken " + std::to_string(model), taken_[model]);
  }
  return state;
}

void ModelInTraining::restore(const Checkpoint& state) {
  load_moments(state, "", table_.values, adam_);
  std::vector<StepRecord> records;
  taken_.clear();
  for (std::size_t model = 0; model < static_cast<std::size_t>(state.number("models")); ++model) {
    records.push_back(load_record(state, "record " + std::to_string(model)));
    taken_.push_back(load_record(state, "taken " + std::to_string(model)));
  }
  adam_.set_records(records);
  num_steps_ = records.at(0).steps;
  if (!weights_adam_) return;
  load_moments(state, "weights", weights_.values, *weights_adam_);
  weights_adam_->set_records({records.at(0)});
}

TrainingMemory training_memory(const Graph& graph, std::span<const SizePlan> plans,
                               const ModelOptions& options, const Schedule& schedule) {
  const BackboneKind& kind = find_backbone(options.backbone);
  std::uint64_t columns = 0;
  for (const SizePlan& plan : plans) {
    const std::uint32_t width = plan.width() * kind.tables;
    columns += row_stride(options.ranks == nullptr
                              ? width
                              : ColumnSlice{0, options.ranks->size()}.largest_part_of(width));
  }
  const auto num_nodes = static_cast<std::uint64_t>(graph.num_nodes());
  const std::uint64_t entries =
      schedule.entries_for(static_cast<std::uint32_t>(graph.active_users.size(0)));
  if (graph.device().is_cpu()) {
    // Parameters, two moments and gradients, and vectors that are not the parameters: what every
    // backbone has beside a batch's contributions, so that nothing is refused that would fit.
    const std::uint64_t least_tables = kind.uses_graph ? 5 : 4;
    // MF takes 4.2 tables in a step and LightGCN 7.3; one more is for the best weights so far.
    const std::uint64_t tables = kind.uses_graph ? 8 : 5;
    const std::uint64_t table = 4 * columns * num_nodes;
    // Of users, positives and negatives.
    const std::uint64_t contributions = 3 * 4 * columns * entries;
    return {least_tables * table + contributions,
            tables * table + contributions +
                4 * plans.size() * kind.workspace * options.dim * num_nodes};
  }
  // Parameters, moments and the best so far; layers, vectors and gradients twice, because what was
  // recorded keeps its own; the same for the batch's contributions.
  constexpr std::uint64_t kTables = 16;
  constexpr std::uint64_t kContributions = 2 * 3;
  constexpr std::uint64_t kRanking = std::uint64_t{1} << 29;
  const std::uint64_t bytes = 4 * columns * (kTables * num_nodes + kContributions * entries) +
                              4 * plans.size() * kind.workspace * options.dim * num_nodes +
                              4 * static_cast<std::uint64_t>(graph.columns.size(0)) + kRanking;
  return {bytes, bytes};
}

}  // namespace bet
