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
      return make_deepsets_predictor(frequencies, options.seed);
    case Selection::kSimple:
      return make_simple_predictor(shape, options.seed);
    case Selection::kRandom:
      break;
  }
  return nullptr;
}

// The next plan to probe, and what finding it took.
struct Chosen {
  Trial trial;
  double error = 0;  // of the predictor while it learnt, squared, mean over its steps
  double seconds = 0;
};

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
  auto t = static_cast<std::uint32_t>(population.size()) + 1;
  if (t > options.num_iterations) return result;
  const std::unique_ptr<FitnessPredictor> predictor = make_predictor(options, shape, frequencies);
  if (const std::vector<double> state = store.predictor_state(); predictor && !state.empty()) {
    predictor->restore(state);
  }

  // Lines 16 to 19, before the choice of iteration `of`: N steps on random members.
  const auto learn = [&](std::uint32_t of, std::span<const Trial> members) {
    if (!predictor) return 0.0;
    std::vector<MeasuredPlan> measured;
    for (const Trial& member : members) measured.push_back({&member.sampled.plan, member.fitness});
    RandomStream random(options.seed, "predictor members", of);
    return predictor->learn(measured, options.predictor_steps, random);
  };
  const std::vector<SampledPlan> rules = rule_plans(sampler, shape);
  // Lines 4 to 12: m plans, and one of them; or the next rule.
  const auto choose = [&](std::uint32_t of, std::span<const Trial> members) {
    const Strategy strategy =
        strategy_of(of, options.selection, options.num_iterations, rules.size());
    const bool is_rule = strategy == Strategy::kRule;
    const std::uint64_t first = is_rule ? of - 1 : std::uint64_t{of} * options.num_candidates;
    std::vector<SampledPlan> candidates;
    if (is_rule) {
      candidates.push_back(rules[of - 1]);
    } else {
      candidates = draw_candidates(sampler, options.seed, first, options.num_candidates);
    }
    const Choice choice =
        choose_candidate(strategy, candidates, predictor.get(), members, options.seed, of);
    return Trial{of, strategy, first + choice.index, std::move(candidates[choice.index]),
                 choice.predicted};
  };

  // What is stored with trial t - 1 is the predictor that chooses plan t, which knows the trials
  // before t - 1: so does this first choice, whether the search begins or goes on.
  // Every trial is stored already.
  const auto stop = [&] {
    leave_if_asked(hooks, nullptr);
    return hooks.stop && hooks.stop();
  };
  Clock::time_point begin = Clock::now();
  const std::span<const Trial> known(population);
  Trial trial = choose(t, known.first(known.empty() ? 0 : known.size() - 1));
  result.own_seconds = result.waited_seconds = seconds_since(begin);
  for (;; ++t) {  // line 3
    const bool last = t == options.num_iterations;
    std::future<Chosen> next;
    if (!last) {
      next = std::async(std::launch::async, [&] {
        const Clock::time_point start = Clock::now();
        const double error = learn(t + 1, population);
        Trial chosen = choose(t + 1, population);
        return Chosen{std::move(chosen), error, seconds_since(start)};
      });
    }
    // Lines 13 and 14: finetune a copy of Theta under its mask, measure it.
    begin = Clock::now();
    const std::optional<double> fitness = prober.fitness(trial.sampled.plan, stop);
    if (!fitness) {
      result.stopped = true;
      break;
    }
    trial.fitness = *fitness;
    trial.seconds = seconds_since(begin);

    begin = Clock::now();
    std::optional<Chosen> chosen;
    if (!last) chosen = next.get();
    population.push_back(std::move(trial));  // line 15
    const Clock::time_point stores = Clock::now();
    store.add(population.back(), predictor ? predictor->state() : std::vector<double>());
    result.own_seconds += seconds_since(stores) + (chosen ? chosen->seconds : 0);
    result.waited_seconds += seconds_since(begin);
    if (hooks.log) hooks.log(trial_text(population.back(), chosen ? chosen->error : 0));
    if (hooks.progress) {
      char detail[80];
      std::snprintf(detail, sizeof(detail), "best plan at %.1f %% of the full-size model's score",
                    100 * best_fitness(population));
      hooks.progress(
          {"search", static_cast<double>(t), static_cast<double>(options.num_iterations), detail});
    }
    if (last) break;
    trial = std::move(chosen->trial);
  }
  return result;
}

std::vector<const Trial*> trials_to_retrain(const std::vector<Trial>& population,
                                            std::size_t count) {
  std::vector<const Trial*> order;
  order.reserve(population.size());
  for (const Trial& trial : population) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(),
                   [](const Trial* a, const Trial* b) { return a->fitness > b->fitness; });
  std::vector<const Trial*> chosen;
  const auto add = [&](const Trial* trial) {
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const Trial* other) {
      return other->sampled.plan == trial->sampled.plan;
    });
    if (!known) chosen.push_back(trial);
  };
  for (const Trial* trial : order) {
    if (chosen.size() < count) add(trial);
  }
  const auto is_rule = [](const Trial* trial) { return trial->strategy == Strategy::kRule; };
  const auto best_rule = std::find_if(order.begin(), order.end(), is_rule);
  if (best_rule != order.end()) {
    add(*best_rule);
    add(&population[0]);
  }
  return chosen;
}

}  // namespace bet
