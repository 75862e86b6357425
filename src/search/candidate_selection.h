#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "search/fitness_predictor.h"
#include "search/method_options.h"
#include "search/trial.h"

namespace bet {

// The strategy of iteration t = 1, 2, ...: {0, 1, 2} -> I, 3 -> II, 4 -> III of t mod 5, after the
// first plans, which are rules: a quarter of all T, as far as there are so many. Always II for
// random selection.
Strategy strategy_of(std::uint32_t iteration, Selection selection, std::uint32_t num_iterations,
                     std::size_t num_rules);

// The plans number first, first + 1, ... under a seed, on num_threads() threads.
std::vector<SampledPlan> draw_candidates(const PlanSampler& sampler, std::uint64_t seed,
                                         std::uint64_t first, std::uint32_t count);

// The rules that a search has to beat (docs/methods.md): the same size for all rows, then equal
// sizes within each side at given shares of the users, both ends early. No plan twice, where the
// sides cannot hold such shares.
std::vector<SampledPlan> rule_plans(const PlanSampler& sampler, const TableShape& shape);

struct Choice {
  std::size_t index = 0;            // among the candidates
  std::optional<double> predicted;  // its fitness
};

// I: the highest predicted fitness. II: one drawn at random. III: the nearest, among the plans as
// the predictor sees them now, to the best of the population; I while that is empty. Of rules the
// first. The predictor may be null for II and for rules.
Choice choose_candidate(Strategy strategy, std::span<const SampledPlan> candidates,
                        const FitnessPredictor* predictor, std::span<const Trial> population,
                        std::uint64_t seed, std::uint32_t iteration);

}  // namespace bet
