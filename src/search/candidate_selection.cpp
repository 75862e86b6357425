#include "search/candidate_selection.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/random.h"

namespace bet {

Strategy strategy_of(std::uint32_t iteration, Selection selection) {
  if (selection == Selection::kRandom) return Strategy::kRandom;
  switch (iteration % 5) {
    case 3:
      return Strategy::kRandom;
    case 4:
      return Strategy::kNearBest;
    default:
      return Strategy::kPredictedBest;
  }
}

std::vector<SampledPlan> draw_candidates(const PlanSampler& sampler, std::uint64_t seed,
                                         std::uint64_t first, std::uint32_t count) {
  std::vector<std::optional<SampledPlan>> drawn(count);
  const std::uint32_t num_threads =
      std::clamp<std::uint32_t>(std::thread::hardware_concurrency(), 1, std::max(count, 1U));
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread < num_threads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::uint32_t i = thread; i < count; i += num_threads) {
          drawn[i] = sampler.draw(seed, first + i);
        }
      });
    }
  }
  std::vector<SampledPlan> plans;
  plans.reserve(count);
  for (std::optional<SampledPlan>& plan : drawn) plans.push_back(std::move(*plan));
  return plans;
}

Choice choose_candidate(Strategy strategy, std::span<const SampledPlan> candidates,
                        const FitnessPredictor* predictor, std::span<const Trial> population,
                        std::uint64_t seed, std::uint32_t iteration) {
  BET_CHECK(!candidates.empty(), "no candidates to choose from");
  Choice choice;
  std::vector<const SizePlan*> plans;
  for (const SampledPlan& candidate : candidates) plans.push_back(&candidate.plan);
  std::optional<FitnessPredictor::Prediction> prediction;
  if (predictor != nullptr) prediction = predictor->predict(plans);

  if (strategy == Strategy::kRandom) {
    choice.index = RandomStream(seed, "random candidate", iteration)
                       .below(static_cast<std::uint32_t>(candidates.size()));
  } else {
    BET_CHECK(prediction.has_value(), "choosing by prediction without a predictor");
    if (strategy == Strategy::kNearBest && !population.empty()) {
      const auto best =
          std::max_element(population.begin(), population.end(),
                           [](const Trial& a, const Trial& b) { return a.fitness < b.fitness; });
      const SizePlan* const target = &best->sampled.plan;
      const at::Tensor there = predictor->predict(std::span(&target, 1)).embeddings;
      choice.index = static_cast<std::size_t>(
          (prediction->embeddings - there).square().sum(1).argmin().item<std::int64_t>());
    } else {
      choice.index = static_cast<std::size_t>(prediction->scores.argmax().item<std::int64_t>());
    }
  }
  if (prediction) {
    choice.predicted = prediction->scores[static_cast<std::int64_t>(choice.index)].item<double>();
  }
  return choice;
}

}  // namespace bet
