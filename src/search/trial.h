#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/loss_options.h"
#include "plan/plan_sampler.h"

namespace bet {

// How a plan was chosen: by the paper's strategies I to III, or as one of the simple rules
// (plan/rule_plans.h).
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

// A measurement of a plan by a search.
struct Trial {
  std::uint32_t iteration = 0;  // from 1
  Strategy strategy = Strategy::kRandom;
  // bet-paper: the sampler's index of the plan; bet: the plan's number, the same in every rung.
  std::uint64_t candidate = 0;
  SampledPlan sampled;
  std::optional<double> predicted;  // fitness, before it was measured; none without a predictor
  // bet-paper: score of the probe / score of the full-size model; bet: score of the training.
  double fitness = 0;
  double seconds = 0;       // that it took; of plans trained side by side, each one's part
  std::uint64_t steps = 0;  // of the training or the probe
  std::uint32_t fold = 0;   // bet: which third of validation was held out (search/rung.h)
  // bet: that a training of the best length would have; bet-paper: of the probe.
  LossOptions loss = {};
  // bet-paper: of the predictor's steps while this plan was probed, the mean squared error; none
  // where it had nothing to learn from.
  std::optional<double> predictor_loss = {};
};

}  // namespace bet
