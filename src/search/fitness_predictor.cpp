#include "search/fitness_predictor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace bet {

FitnessPredictor::FitnessPredictor(const std::vector<double>& params)
    : params_(at::from_blob(const_cast<double*>(params.data()),
                            {static_cast<std::int64_t>(params.size())}, at::kDouble)
                  .clone()),
      moment1_(at::zeros_like(params_)),
      moment2_(at::zeros_like(params_)) {}

FitnessPredictor::Prediction FitnessPredictor::predict(
    std::span<const SizePlan* const> plans) const {
  const c10::AutoGradMode no_gradient(false);
  Prediction prediction = forward(params_, plans);
  prediction.scores = prediction.scores * spread_ + mean_;
  return prediction;
}

double FitnessPredictor::learn(std::span<const MeasuredPlan> population, std::uint32_t steps,
                               RandomStream& random) {
  if (population.empty() || steps == 0) return 0;
  const auto count = static_cast<double>(population.size());
  mean_ = 0;
  for (const MeasuredPlan& member : population) mean_ += member.fitness / count;
  double variance = 0;
  for (const MeasuredPlan& member : population) {
    variance += (member.fitness - mean_) * (member.fitness - mean_) / count;
  }
  constexpr double kLeastSpread = 0.01;  // while there are too few to tell
  spread_ = std::max(std::sqrt(variance), kLeastSpread);

  double error = 0;
  std::array<MeasuredPlan, kBatch> batch;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (MeasuredPlan& member : batch) {
      member = population[random.below(static_cast<std::uint32_t>(population.size()))];
    }
    error += update(batch) / steps;
  }
  return error;
}

double FitnessPredictor::update(std::span<const MeasuredPlan> batch) {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  std::vector<const SizePlan*> plans;
  at::Tensor targets = at::empty({static_cast<std::int64_t>(batch.size())}, at::kDouble);
  for (const MeasuredPlan& member : batch) {
    targets.data_ptr<double>()[plans.size()] = (member.fitness - mean_) / spread_;
    plans.push_back(member.plan);
  }
  const at::Tensor params = params_.detach().clone().set_requires_grad(true);
  const at::Tensor error = (forward(params, plans).scores - targets).square().mean();
  const at::Tensor gradient = torch::autograd::grad({error}, {params})[0];
  const double rate = std::max(0.01 * std::pow(0.9, static_cast<double>(num_updates_)), 0.002);
  ++num_updates_;
  const auto t = static_cast<double>(num_updates_);
  moment1_.mul_(kBeta1).add_(gradient, 1 - kBeta1);
  moment2_.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const at::Tensor scale = (moment2_ / (1 - std::pow(kBeta2, t))).sqrt().add(1e-8);
  params_.addcdiv_(moment1_, scale, -rate / (1 - std::pow(kBeta1, t)));
  return error.item<double>() * spread_ * spread_;
}

at::Tensor FitnessPredictor::state() const {
  at::Tensor rest = at::empty({3}, at::kDouble);
  rest.data_ptr<double>()[0] = static_cast<double>(num_updates_);
  rest.data_ptr<double>()[1] = mean_;
  rest.data_ptr<double>()[2] = spread_;
  return at::cat({params_, moment1_, moment2_, rest});
}

void FitnessPredictor::restore(const at::Tensor& state) {
  const std::int64_t count = params_.numel();
  BET_CHECK(state.numel() == 3 * count + 3, "state of a predictor of ", (state.numel() - 3) / 3,
            " weights for one of ", count);
  params_ = state.slice(0, 0, count).clone();
  moment1_ = state.slice(0, count, 2 * count).clone();
  moment2_ = state.slice(0, 2 * count, 3 * count).clone();
  const at::Tensor rest = state.slice(0, 3 * count).contiguous();
  num_updates_ = static_cast<std::int64_t>(rest.data_ptr<double>()[0]);
  mean_ = rest.data_ptr<double>()[1];
  spread_ = rest.data_ptr<double>()[2];
}

}  // namespace bet
