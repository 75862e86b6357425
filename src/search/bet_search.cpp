#include "search/bet_search.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>

#include "base/error.h"
#include "base/random.h"

namespace bet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::unique_ptr<FitnessPredictor> make_predictor(const SearchOptions& options,
                                                 const TableShape& shape,
                                                 const Frequencies& frequencies) {
  switch (options.selection) {
    case Selection::kDeepSets:
      return make_deepsets_predictor(shape, frequencies, options.seed);
    case Selection::kSimple:
      return make_simple_predictor(shape, options.seed);
    case Selection::kRandom:
      break;
  }
  return nullptr;
}

std::string trial_text(const Trial& trial, double error) {
  char text[256];
  std::snprintf(
      text, sizeof(text),
      "probe %u  %s  fitness %.5f  predicted %s  error %.2e  users %.3f of the budget, %s "
      "%.3f / %s %.3f  largest size %u  %.2f s",
      trial.iteration, std::string(strategy_name(trial.strategy)).c_str(), trial.fitness,
      trial.predicted ? std::to_string(*trial.predicted).c_str() : "-", error,
      trial.sampled.origin.user_share,
      std::string(family_name(trial.sampled.origin.user_family)).c_str(),
      trial.sampled.origin.user_shape,
      std::string(family_name(trial.sampled.origin.item_family)).c_str(),
      trial.sampled.origin.item_shape, trial.sampled.plan.largest_size(), trial.seconds);
  return text;
}

double best_fitness(const std::vector<Trial>& population) {
  double best = 0;
  for (const Trial& trial : population) best = std::max(best, trial.fitness);
  return best;
}

}  // namespace

SearchResult search_plans(const PlanSampler& sampler, const Frequencies& frequencies,
                          const TableShape& shape, const Prober& prober, RunStore& store,
                          const SearchOptions& options, const TrainingHooks& hooks) {
  BET_CHECK(options.num_iterations > 0 && options.num_candidates > 0, "a search of ",
            options.num_iterations, " iterations of ", options.num_candidates,
            " candidates: both must be at least 1");
  // Line 1: Phi and the population; both go on from what is stored.
  SearchResult result;
  std::vector<Trial>& population = result.population;
  population = store.trials(shape);
  const std::unique_ptr<FitnessPredictor> predictor = make_predictor(options, shape, frequencies);
  if (const at::Tensor state = store.predictor_state(); predictor && state.defined()) {
    predictor->restore(state);
  }
  // Lines 4 and 5: m plans. Those of the next iteration are drawn while the GPU or the other cores
  // are busy with a probe: they depend on nothing that it finds.
  const auto draw = [&](std::uint32_t t) {
    return std::async(std::launch::async, [&, t] {
      return draw_candidates(sampler, options.seed, std::uint64_t{t} * options.num_candidates,
                             options.num_candidates);
    });
  };
  auto t = static_cast<std::uint32_t>(population.size()) + 1;
  if (t > options.num_iterations) return result;
  std::future<std::vector<SampledPlan>> drawing = draw(t);
  for (; t <= options.num_iterations; ++t) {  // line 3
    Clock::time_point begin = Clock::now();
    std::vector<SampledPlan> candidates = drawing.get();
    // Lines 6 to 12: one of them.
    const Strategy strategy = strategy_of(t, options.selection);
    const Choice choice =
        choose_candidate(strategy, candidates, predictor.get(), population, options.seed, t);
    Trial trial{t, strategy, std::uint64_t{t} * options.num_candidates + choice.index,
                std::move(candidates[choice.index]), choice.predicted};
    if (t < options.num_iterations) drawing = draw(t + 1);
    result.own_seconds += seconds_since(begin);

    // Lines 13 and 14: finetune a copy of Theta under its mask, measure it.
    begin = Clock::now();
    const std::optional<double> fitness = prober.fitness(trial.sampled.plan, hooks.stop);
    if (!fitness) {
      result.stopped = true;
      break;
    }
    trial.fitness = *fitness;
    trial.seconds = seconds_since(begin);
    result.probe_seconds += trial.seconds;

    // Line 15: into the population; lines 16 to 19: N steps of the predictor on random members.
    begin = Clock::now();
    population.push_back(std::move(trial));
    double error = 0;
    for (std::uint32_t j = 0; predictor && j < options.predictor_steps; ++j) {
      RandomStream random(options.seed, "predictor members",
                          std::uint64_t{t} * options.predictor_steps + j);
      const Trial& member = population[random.below(static_cast<std::uint32_t>(population.size()))];
      error += predictor->update(member.sampled.plan, member.fitness) / options.predictor_steps;
    }
    store.add(population.back(), predictor ? predictor->state() : at::Tensor());
    result.own_seconds += seconds_since(begin);
    if (hooks.log) hooks.log(trial_text(population.back(), error));
    if (hooks.progress) {
      char detail[48];
      std::snprintf(detail, sizeof(detail), "best fitness %.4f", best_fitness(population));
      hooks.progress(
          {"search", static_cast<double>(t), static_cast<double>(options.num_iterations), detail});
    }
  }
  return result;
}

std::vector<const Trial*> best_trials(const std::vector<Trial>& population, std::size_t count) {
  std::vector<const Trial*> order;
  for (const Trial& trial : population) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(),
                   [](const Trial* a, const Trial* b) { return a->fitness > b->fitness; });
  std::vector<const Trial*> best;
  for (const Trial* trial : order) {
    const bool known = std::any_of(best.begin(), best.end(), [&](const Trial* other) {
      return other->sampled.plan == trial->sampled.plan;
    });
    if (!known && best.size() < count) best.push_back(trial);
  }
  return best;
}

}  // namespace bet
