#include "search/fitness_predictor.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace bet {

FitnessPredictor::FitnessPredictor(std::vector<double> params)
    : params_(std::move(params)),
      moment1_(params_.size()),
      moment2_(params_.size()),
      gradient_(params_.size()) {}

FitnessPredictor::Prediction FitnessPredictor::predict(
    std::span<const SizePlan* const> plans) const {
  return forward(params_, plans, nullptr);
}

double FitnessPredictor::learn(std::span<const MeasuredPlan> population, std::uint32_t steps,
                               RandomStream& random) {
  if (population.empty() || steps == 0) return 0;
  double error = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    error += update(population[random.below(static_cast<std::uint32_t>(population.size()))]);
  }
  return error / steps;
}

std::vector<double> FitnessPredictor::score_gradient(std::span<const double> scores,
                                                     std::span<const double> targets) {
  std::vector<double> gradient(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    gradient[i] = 2 * (scores[i] - targets[i]) / static_cast<double>(scores.size());
  }
  return gradient;
}

double FitnessPredictor::update(const MeasuredPlan& member) {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  const Supervision supervision{std::span(&member.fitness, 1), gradient_};
  const double error =
      forward(params_, std::span(&member.plan, 1), &supervision).scores[0] - member.fitness;

  const double rate = std::max(0.01 * std::pow(0.9, static_cast<double>(num_updates_)), 0.002);
  ++num_updates_;
  const auto t = static_cast<double>(num_updates_);
  const double correction1 = 1 / (1 - std::pow(kBeta1, t));
  const double correction2 = 1 / (1 - std::pow(kBeta2, t));
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const double g = gradient_[i];
    moment1_[i] = kBeta1 * moment1_[i] + (1 - kBeta1) * g;
    moment2_[i] = kBeta2 * moment2_[i] + (1 - kBeta2) * g * g;
    params_[i] -= rate * correction1 * moment1_[i] / (std::sqrt(correction2 * moment2_[i]) + 1e-8);
  }
  return error * error;
}

std::vector<double> FitnessPredictor::state() const {
  std::vector<double> state;
  for (const std::vector<double>* part : {&params_, &moment1_, &moment2_}) {
    state.insert(state.end(), part->begin(), part->end());
  }
  state.push_back(static_cast<double>(num_updates_));
  return state;
}

void FitnessPredictor::restore(std::span<const double> state) {
  const std::size_t count = params_.size();
  BET_CHECK(state.size() == 3 * count + 1, "state of ", state.size(),
            " numbers for a predictor of ", count, " weights");
  const auto part = [&](std::size_t i) {
    const std::span<const double> values = state.subspan(i * count, count);
    return std::vector<double>(values.begin(), values.end());
  };
  params_ = part(0);
  moment1_ = part(1);
  moment2_ = part(2);
  num_updates_ = static_cast<std::int64_t>(state[3 * count]);
}

}  // namespace bet
