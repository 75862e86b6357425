#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plan/plan_sampler.h"

namespace bet {

// How a plan was chosen among the candidates of an iteration: the paper's strategies I to III, and
// before them, while there is nothing to predict from, simple rules (rule_plans).
enum class Strategy { kPredictedBest, kRandom, kNearBest, kRule };

constexpr std::string_view strategy_name(Strategy strategy) {
  switch (strategy) {
    case Strategy::kPredictedBest:
      return "predicted best";
    case Strategy::kRandom:
      return "random";
    case Strategy::kNearBest:
      return "near best";
    case Strategy::kRule:
      break;
  }
  return "rule";
}

// A member of the population: a plan that was probed.
struct Trial {
  std::uint32_t iteration = 0;  // from 1
  Strategy strategy = Strategy::kRandom;
  std::uint64_t candidate = 0;  // the sampler's index of the plan; of a rule, its place
  SampledPlan sampled;
  std::optional<double> predicted;  // fitness, before it was measured; none without a predictor
  double fitness = 0;               // measured: quality of the probe / quality of the full model
  double seconds = 0;               // that the probe took
};

}  // namespace bet
