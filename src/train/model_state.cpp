#include "train/model_state.h"

#include <ATen/ops/ones.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "base/error.h"
#include "model/bpr_loss.h"

namespace bet {
namespace {

// Steps that may be under way on the GPU before the host looks at their losses.
constexpr std::uint64_t kStepsInFlight = 64;

}  // namespace

ModelInTraining::ModelInTraining(const Graph& graph, std::span<const SizePlan> plans,
                                 const ModelOptions& options, const Schedule& schedule)
    : ModelInTraining(graph, make_table(plans, options.seed), options, schedule) {}

ModelInTraining::ModelInTraining(const Graph& graph, MaskedTable table, const ModelOptions& options,
                                 const Schedule& schedule)
    : executor_(executor_for(graph.device())),
      options_(options),
      schedule_(schedule),
      table_(table.to(graph.device())),
      adam_(table_, schedule.adam, schedule.max_steps,
            [&](std::uint64_t step) { return schedule.rate_after(step); }),
      backbone_(make_backbone(options.backbone, graph, options.precision)),
      sampler_(graph, options.seed),
      batch_(schedule.entries_for(sampler_.num_users()), schedule.pool, table_.num_rows(),
             graph.device()),
      ones_(at::ones({static_cast<std::int64_t>(table_.models.size())}, table_.values.options())),
      loop_(executor_.make_loop()),
      taken_(table_.models.size()) {
  BET_CHECK(table_.num_rows() == graph.num_nodes(), "a plan of ", table_.num_rows(),
            " rows for a graph of ", graph.num_nodes(), " users and items");
  schedule_.validate();
}

void ModelInTraining::run_step() {
  executor_.beside([this] { sampler_.draw(adam_.device_record(), schedule_.batch_kind, batch_); });
  const at::Tensor values = table_.values.detach().set_requires_grad(true);
  const at::Tensor vectors = backbone_->vectors(values, &batch_.touched);
  executor_.join();
  const at::Tensor loss = bpr_loss(vectors, table_.models, batch_);
  const at::Tensor gradient = torch::autograd::grad({loss}, {values}, {ones_})[0];
  // The regulariser l2 * sum of the batch's squared rows / size comes out of Adam's pass.
  adam_.step(table_, gradient, batch_, options_.l2, loss);
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

at::Tensor ModelInTraining::vectors() const {
  const c10::AutoGradMode no_gradient(false);
  return backbone_->vectors(table_.values);
}

ModelInTraining::State ModelInTraining::state() {
  return {table_.values.cpu(), adam_.moment1().cpu(), adam_.moment2().cpu(), adam_.records(),
          taken_};
}

void ModelInTraining::restore(const State& state) {
  const auto copy = [&](const at::Tensor& to, const at::Tensor& from, const char* name) {
    BET_CHECK(from.sizes() == to.sizes(), "checkpoint of another plan: ", name, " has ",
              from.size(0), " x ", from.size(1), " values, not ", to.size(0), " x ", to.size(1));
    to.copy_(from);
  };
  copy(table_.values, state.values, "table");
  copy(adam_.moment1(), state.moment1, "moment1");
  copy(adam_.moment2(), state.moment2, "moment2");
  adam_.set_records(state.records);
  taken_ = state.taken;
  num_steps_ = state.records.at(0).steps;
}

std::uint64_t training_bytes(const Graph& graph, std::span<const SizePlan> plans,
                             const Schedule& schedule) {
  std::uint64_t columns = 0;
  for (const SizePlan& plan : plans) columns += row_stride(plan.largest_size());
  const std::uint64_t entries =
      schedule.entries_for(static_cast<std::uint32_t>(graph.active_users.size(0)));
  // Parameters, moments and the best so far; layers, vectors and gradients twice, because what was
  // recorded keeps its own; the same for the batch's contributions.
  constexpr std::uint64_t kTables = 16;
  constexpr std::uint64_t kContributions = 2 * 3;
  constexpr std::uint64_t kRanking = std::uint64_t{1} << 29;
  return 4 * columns *
             (kTables * static_cast<std::uint64_t>(graph.num_nodes()) + kContributions * entries) +
         4 * static_cast<std::uint64_t>(graph.columns.size(0)) + kRanking;
}

}  // namespace bet
