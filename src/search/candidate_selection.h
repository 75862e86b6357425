#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "search/fitness_predictor.h"
#include "search/method_options.h"
#include "search/trial.h"

namespace bet {

// The strategy of iteration t = 1, 2, ...: {0, 1, 2} -> I, 3 -> II, 4 -> III of t mod 5; always II
// for random selection.
Strategy strategy_of(std::uint32_t iteration, Selection selection);

// The plans number first, first + 1, ... under a seed, on num_threads() threads.
std::vector<SampledPlan> draw_candidates(const PlanSampler& sampler, std::uint64_t seed,
                                         std::uint64_t first, std::uint32_t count);

struct Choice {
  std::size_t index = 0;            // among the candidates
  std::optional<double> predicted;  // its fitness
};

// I: the highest predicted fitness. II: one drawn at random. III: the nearest, among the plans as
// the predictor sees them now, to the best of the population; I while that is empty. The predictor
// may be null for II.
Choice choose_candidate(Strategy strategy, std::span<const SampledPlan> candidates,
                        const FitnessPredictor* predictor, std::span<const Trial> population,
                        std::uint64_t seed, std::uint32_t iteration);

}  // namespace bet
