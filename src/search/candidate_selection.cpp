#include "search/candidate_selection.h"

#include <algorithm>
#include <future>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "model/threads.h"

namespace bet {

namespace {

// The row of `embeddings` nearest to the one row `there`.
std::size_t nearest_embedding(std::span<const double> embeddings, std::span<const double> there) {
  std::size_t nearest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < embeddings.size() / there.size(); ++row) {
    double distance = 0;
    for (std::size_t i = 0; i < there.size(); ++i) {
      const double difference = embeddings[row * there.size() + i] - there[i];
      distance += difference * difference;
    }
    if (distance < smallest) {
      smallest = distance;
      nearest = row;
    }
  }
  return nearest;
}

}  // namespace

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
  const std::uint32_t of_all = std::min(num_threads(), count);
  const auto draw_part = [&](std::uint32_t part) {
    for (std::uint32_t i = part; i < count; i += of_all) drawn[i] = sampler.draw(seed, first + i);
  };
  std::vector<std::future<void>> others;  // which pass on what they throw
  for (std::uint32_t part = 1; part < of_all; ++part) {
    others.push_back(std::async(std::launch::async, draw_part, part));
  }
  if (count > 0) draw_part(0);
  for (std::future<void>& other : others) other.get();
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
      choice.index = nearest_embedding(prediction->embeddings,
                                       predictor->predict(std::span(&target, 1)).embeddings);
    } else {
      choice.index = static_cast<std::size_t>(
          std::max_element(prediction->scores.begin(), prediction->scores.end()) -
          prediction->scores.begin());
    }
  }
  if (prediction) {
    choice.predicted = prediction->scores[choice.index];
  }
  return choice;
}

}  // namespace bet
