#include "search/fitness_predictor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
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
  return forward(params_, plans);
}

double FitnessPredictor::update(const SizePlan& plan, double fitness) {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  const at::Tensor params = params_.detach().clone().set_requires_grad(true);
  const SizePlan* const one = &plan;
  const at::Tensor error = (forward(params, std::span(&one, 1)).scores - fitness).square().sum();
  const at::Tensor gradient = torch::autograd::grad({error}, {params})[0];
  const double rate = std::max(0.01 * std::pow(0.9, static_cast<double>(num_updates_)), 0.002);
  ++num_updates_;
  const auto t = static_cast<double>(num_updates_);
  moment1_.mul_(kBeta1).add_(gradient, 1 - kBeta1);
  moment2_.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const at::Tensor scale = (moment2_ / (1 - std::pow(kBeta2, t))).sqrt().add(1e-8);
  params_.addcdiv_(moment1_, scale, -rate / (1 - std::pow(kBeta1, t)));
  return error.item<double>();
}

at::Tensor FitnessPredictor::state() const {
  at::Tensor updates = at::empty({1}, at::kDouble);
  updates.fill_(static_cast<double>(num_updates_));
  return at::cat({params_, moment1_, moment2_, updates});
}

void FitnessPredictor::restore(const at::Tensor& state) {
  const std::int64_t count = params_.numel();
  BET_CHECK(state.numel() == 3 * count + 1, "state of a predictor of ", (state.numel() - 1) / 3,
            " weights for one of ", count);
  params_ = state.slice(0, 0, count).clone();
  moment1_ = state.slice(0, count, 2 * count).clone();
  moment2_ = state.slice(0, 2 * count, 3 * count).clone();
  num_updates_ = static_cast<std::int64_t>(state[3 * count].item<double>());
}

}  // namespace bet
