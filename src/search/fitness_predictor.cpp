#include "search/fitness_predictor.h"

#include <algorithm>
#include <array>
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
  Prediction prediction = forward(params_, plans, nullptr);
  for (double& score : prediction.scores) score = score * stddev_ + mean_;
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
  constexpr double kMinStddev = 0.01;  // for populations too small to estimate it
  stddev_ = std::max(std::sqrt(variance), kMinStddev);

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

std::vector<double> FitnessPredictor::score_gradient(std::span<const double> scores,
                                                     std::span<const double> targets) {
  std::vector<double> gradient(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    gradient[i] = 2 * (scores[i] - targets[i]) / static_cast<double>(scores.size());
  }
  return gradient;
}

double FitnessPredictor::update(std::span<const MeasuredPlan> batch) {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  std::vector<const SizePlan*> plans;
  std::vector<double> targets;
  for (const MeasuredPlan& member : batch) {
    plans.push_back(member.plan);
    targets.push_back((member.fitness - mean_) / stddev_);
  }
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  const Supervision supervision{targets, gradient_};
  const std::vector<double> scores = forward(params_, plans, &supervision).scores;

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
  double error = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    error += (scores[i] - targets[i]) * (scores[i] - targets[i]);
  }
  return error / static_cast<double>(scores.size()) * stddev_ * stddev_;
}

std::vector<double> FitnessPredictor::state() const {
  std::vector<double> state;
  for (const std::vector<double>* part : {&params_, &moment1_, &moment2_}) {
    state.insert(state.end(), part->begin(), part->end());
  }
  state.insert(state.end(), {static_cast<double>(num_updates_), mean_, stddev_});
  return state;
}

void FitnessPredictor::restore(std::span<const double> state) {
  const std::size_t count = params_.size();
  BET_CHECK(state.size() == 3 * count + 3, "state of ", state.size(),
            " numbers for a predictor of ", count, " weights");
  const auto part = [&](std::size_t i) {
    const std::span<const double> values = state.subspan(i * count, count);
    return std::vector<double>(values.begin(), values.end());
  };
  params_ = part(0);
  moment1_ = part(1);
  moment2_ = part(2);
  num_updates_ = static_cast<std::int64_t>(state[3 * count]);
  mean_ = state[3 * count + 1];
  stddev_ = state[3 * count + 2];
}

}  // namespace bet
