#include "baselines/pep.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/sigmoid.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "baselines/kept_columns.h"
#include "baselines/method_training.h"
#include "search/method.h"
#include "train/adam_state.h"

namespace bet {
namespace {

// The table of s: Adam moves every value, whatever the plan.
ModelParameters of_same_shape(const ModelParameters& table, double value) {
  ModelParameters same;
  same.values = at::full_like(table.values, value);
  same.sizes = at::full_like(table.sizes, static_cast<double>(table.models.at(0).width));
  same.models = table.models;
  return same;
}

}  // namespace

PepThresholds::PepThresholds(const ModelParameters& table, const Options& options)
    : options_(options),
      table_(of_same_shape(table, options.first)),
      leaf_(table_.values.detach().set_requires_grad(true)),
      decay_(at::full({1}, options.decay, table.values.options())),
      adam_(table_, options.adam, options.max_steps,
            [&](std::uint64_t /*step*/) { return options.learning_rate; }) {}

at::Tensor PepThresholds::filtered(const at::Tensor& values) {
  return values.sign() * (values.abs() - options_.scale * at::sigmoid(leaf_)).clamp_min(0);
}

void PepThresholds::update(std::span<const at::Tensor> gradients, const at::Tensor& loss) {
  // The L2 term is part of the gradient: decoupled as in AdamW, it would never prune anything.
  const at::Tensor gradient = (gradients[0] + decay_ * table_.values).contiguous();
  adam_.step(table_, gradient, {}, loss);
}

std::uint64_t PepThresholds::steps_to_highest() const {
  return static_cast<std::uint64_t>(std::ceil(-options_.first / options_.learning_rate));
}

at::Tensor PepThresholds::thresholds() const { return options_.scale * at::sigmoid(table_.values); }

void PepThresholds::save(Checkpoint& checkpoint) {
  save_adam(checkpoint, "thresholds", table_, adam_);
  checkpoint.tensors["thresholds decay"] = decay_.cpu().view({1, 1});
}

void PepThresholds::restore(const Checkpoint& checkpoint) {
  load_adam(checkpoint, "thresholds", table_, adam_);
  checkpoint.copy_tensor("thresholds decay", decay_.view({1, 1}));
}

PepThresholds::Options pep_options(const Pretrained& full, const Schedule& schedule) {
  const at::Tensor sizes = full.table.values.slice(1, 0, full.table.models.at(0).width).abs();
  const auto largest = sizes.max().item<double>();
  const auto median = sizes.median().item<double>();
  BET_CHECK(median > 0 && std::isfinite(largest), "the full-size model has values of ", median,
            " in the middle and ", largest, " at most: thresholds cannot be set by them");
  PepThresholds::Options options;
  options.max_steps = 2 * full.best_length;
  // The authors' k is 1; but s never rises above 0, and their thresholds not above 1/2, which the
  // values of this training exceed. Values that are kept grow with their thresholds: these must be
  // able to rise above the farthest that Adam can carry a value.
  const Schedule whole = schedule.of_length(options.max_steps);
  double way = 0;
  for (std::uint64_t step = 0; step < whole.max_steps; ++step) way += whole.rate_after(step);
  options.scale = 2 * (largest + way);
  // Thresholds reach the median of the values when the training is usually over, and their highest
  // (s = 0) in less than twice as many steps.
  const double middle = std::log(median / (options.scale - median));
  options.learning_rate = std::max(middle - options.first, -options.first / 1.8) /
                          static_cast<double>(full.best_length);
  return options;
}

namespace {

std::string pruning_text(std::uint64_t step, const PepThresholds& thresholds, double share_kept) {
  char text[96];
  std::snprintf(text, sizeof(text), "pep: step %llu  thresholds %.2e  kept %.4f",
                static_cast<unsigned long long>(step),
                thresholds.thresholds().mean().item<double>(), share_kept);
  return text;
}

Proposal propose_pep(const MethodInput& input) {
  PepThresholds::Options options = pep_options(input.pretrained(), input.training.schedule);
  options.adam = input.training.schedule.adam;  // one Adam for all, as the authors have it
  Schedule schedule = input.training.schedule;
  schedule.max_steps = options.max_steps;
  const TableShape& shape = input.shape;
  const SizePlan full = full_plan(shape);
  ModelInTraining model(input.graph, std::span(&full, 1), input.training.model, schedule);
  PepThresholds thresholds(model.table(), options);
  model.use(thresholds);
  // By how much each column is above its threshold, and how many are.
  const auto above = [&] {
    return magnitudes(model.table().values, shape) - magnitudes(thresholds.thresholds(), shape);
  };
  const std::uint64_t wanted = input.params.value() / shape.tables;
  constexpr std::uint64_t kStepsBetween = 10;  // the authors count after every one
  const auto after_step = [&] {
    if (model.num_steps() % kStepsBetween != 0) return false;
    const auto kept = above().gt(0).sum().item<std::int64_t>();
    if (input.hooks.log && model.num_steps() % (10 * kStepsBetween) == 0) {
      const auto all = static_cast<double>(shape.total_size(shape.max_dim));
      input.hooks.log(pruning_text(model.num_steps(), thresholds, static_cast<double>(kept) / all));
    }
    if (static_cast<std::uint64_t>(kept) <= wanted) return true;
    // The thresholds that are low yet are those that the loss holds down: what holds them less
    // gives way first.
    if (model.num_steps() > thresholds.steps_to_highest()) thresholds.double_decay();
    return false;
  };
  const bool whole =
      train_method(input, model,
                   {.phase = "prune",
                    .num_steps = options.max_steps,
                    .after_step = after_step,
                    .save = [&](Checkpoint& state) { thresholds.save(state); },
                    .restore = [&](const Checkpoint& state) { thresholds.restore(state); }});
  Proposal proposal;
  proposal.plans = {keep_highest(above(), shape, input.params.value())};
  proposal.trainings = 1;
  proposal.steps = model.num_steps();
  proposal.stopped = !whole;
  return proposal;
}

}  // namespace

// PEP. The method's own: thresholds for every value, learnt by Adam with a coupled L2 term; pruned
// values never come back; what is left is retrained from the values the training began with (the
// lottery ticket: retrain_plans draws them by seed, row and column alike). Our adaptation: one
// count over all tables; the learning rate of s and the scale of thresholds set by the pretrained
// model; where the budget is not met when thresholds should be at their highest, the L2 term
// doubles every ten steps; the mask at the first step (of every tenth) with few enough values, cut
// or filled to the budget exactly by |v| less threshold; NCF's two values of a column kept or
// pruned together; dense weights not pruned. Its masks count as nothing in a budget of parameters;
// in bytes they do.
extern const MethodKind kPep;
const MethodKind kPep = {.name = "pep",
                         .about = "PEP, learnt thresholds",
                         .masks = true,
                         .empty_rows = true,
                         .pretrains = true,
                         .trains = true,
                         .any_order = true,
                         .propose = propose_pep};

}  // namespace bet
