#include "search/paper_search.h"

#include <algorithm>
#include <cstdio>
#include <future>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "base/stopwatch.h"

namespace bet {
namespace {

std::unique_ptr<FitnessPredictor> make_predictor(const PaperSearchOptions& options,
                                                 const SearchSpace& space) {
  switch (options.selection) {
    case Selection::kDeepSets:
      return make_deepsets_predictor(space.frequencies, options.seed);
    case Selection::kSimple:
      return make_simple_predictor(space.sampler.shape(), options.seed);
    case Selection::kRandom:
      break;
  }
  return nullptr;
}

// The next plan to probe, and what finding it took.
struct Chosen {
  Trial trial;
  // Of the predictor while it learnt, squared, mean over its steps; none without any.
  std::optional<double> error;
  double seconds = 0;
};

std::string trial_text(const Trial& trial) {
  char text[256];
  std::snprintf(
      text, sizeof(text),
      "probe %u  %s  fitness %.5f  predicted %s  error %.2e  users %.3f of the budget, %s "
      "%.3f / %s %.3f  largest size %u  %.2f s",
      trial.iteration, std::string(strategy_name(trial.strategy)).c_str(), trial.fitness,
      trial.predicted ? std::to_string(*trial.predicted).c_str() : "-",
      trial.predictor_loss.value_or(0), trial.sampled.origin.user_share,
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

// Algorithm 1 from line 3 on. The comments name its lines.
class PaperSearch {
 public:
  PaperSearch(const SearchSpace& space, const Prober& prober, RunStore& store,
              const PaperSearchOptions& options, const TrainingHooks& hooks)
      : space_(space), prober_(prober), store_(store), options_(options), hooks_(hooks) {
    // Line 1: the predictor and the population; both resume from what is stored.
    result_.population = store.trials(space.sampler.shape());
  }

  PaperSearchResult run() {
    auto t = static_cast<std::uint32_t>(population().size()) + 1;
    if (t > options_.num_iterations) return std::move(result_);
    predictor_ = make_predictor(options_, space_);
    if (const std::vector<double> state = store_.predictor_state(); predictor_ && !state.empty()) {
      predictor_->restore(state);
    }
    Trial trial = first_choice(t);
    for (;; ++t) {  // line 3
      const bool last = t == options_.num_iterations;
      std::future<Chosen> next;
      if (!last) {
        next = std::async(std::launch::async, [this, t] { return learn_and_choose(t + 1); });
      }
      if (!probe(trial)) {
        result_.stopped = true;
        break;
      }
      const Stopwatch watch;
      std::optional<Chosen> chosen;
      if (!last) chosen = next.get();
      if (chosen) trial.predictor_loss = chosen->error;
      add(std::move(trial), chosen ? chosen->seconds : 0);
      result_.waited_seconds += watch.seconds();
      report();
      if (last) break;
      trial = std::move(chosen->trial);
    }
    return std::move(result_);
  }

 private:
  std::vector<Trial>& population() { return result_.population; }

  // The predictor that is stored with trial t - 1 chooses plan t and knows the trials before
  // t - 1. The first choice has the same knowledge, whether the search begins or resumes.
  Trial first_choice(std::uint32_t t) {
    const Stopwatch watch;
    const std::span<const Trial> measured(population());
    Trial trial = choose(t, measured.first(measured.empty() ? 0 : measured.size() - 1));
    result_.own_seconds = result_.waited_seconds = watch.seconds();
    return trial;
  }

  Chosen learn_and_choose(std::uint32_t t) {
    const Stopwatch watch;
    const std::optional<double> error = learn(t);
    Trial trial = choose(t, population());
    return {std::move(trial), error, watch.seconds()};
  }

  // Lines 16 to 19, before the choice of iteration t: N steps on random members.
  std::optional<double> learn(std::uint32_t t) {
    if (!predictor_ || population().empty()) return std::nullopt;
    std::vector<MeasuredPlan> measured;
    for (const Trial& trial : population()) {
      measured.push_back({&trial.sampled.plan, trial.fitness});
    }
    RandomStream random(options_.seed, "predictor members", t);
    return predictor_->learn(measured, options_.predictor_steps, random);
  }

  // Lines 4 to 12: m plans, and one of them.
  Trial choose(std::uint32_t t, std::span<const Trial> measured) const {
    const Strategy strategy = strategy_of(t, options_.selection);
    const std::uint64_t first = std::uint64_t{t} * options_.num_candidates;
    std::vector<SampledPlan> candidates =
        draw_candidates(space_.sampler, options_.seed, first, options_.num_candidates);
    const Choice choice =
        choose_candidate(strategy, candidates, predictor_.get(), measured, options_.seed, t);
    return Trial{t, strategy, first + choice.index, std::move(candidates[choice.index]),
                 choice.predicted};
  }

  // Lines 13 and 14: finetunes a copy of Theta under the plan's mask and measures it. False if the
  // stop hook ended it.
  bool probe(Trial& trial) const {
    const auto stop = [this] {
      leave_if_asked(hooks_);  // every trial is stored already
      return hooks_.stop && hooks_.stop();
    };
    const Stopwatch watch;
    const std::optional<double> fitness = prober_.fitness(trial.sampled.plan, stop);
    if (!fitness) return false;
    trial.fitness = *fitness;
    trial.seconds = watch.seconds();
    trial.steps = prober_.steps();
    trial.loss = prober_.loss();
    return true;
  }

  // Line 15.
  void add(Trial trial, double seconds_to_choose) {
    population().push_back(std::move(trial));
    const Stopwatch watch;
    store_.add(std::span(&population().back(), 1),
               predictor_ ? predictor_->state() : std::vector<double>());
    result_.own_seconds += watch.seconds() + seconds_to_choose;
  }

  void report() {
    if (hooks_.log) hooks_.log(trial_text(population().back()));
    if (!hooks_.progress) return;
    char detail[80];
    std::snprintf(detail, sizeof(detail), "best plan at %.1f %% of the full-size model's score",
                  100 * best_fitness(population()));
    hooks_.progress({"search", static_cast<double>(population().size()),
                     static_cast<double>(options_.num_iterations), detail});
  }

  const SearchSpace& space_;
  const Prober& prober_;
  RunStore& store_;
  const PaperSearchOptions& options_;
  const TrainingHooks& hooks_;
  std::unique_ptr<FitnessPredictor> predictor_;
  PaperSearchResult result_;
};

}  // namespace

PaperSearchResult search_as_in_paper(const SearchSpace& space, const Prober& prober,
                                     RunStore& store, const PaperSearchOptions& options,
                                     const TrainingHooks& hooks) {
  BET_CHECK(options.num_iterations > 0 && options.num_candidates > 0, "a search of ",
            options.num_iterations, " iterations of ", options.num_candidates,
            " candidates: both must be at least 1");
  return PaperSearch(space, prober, store, options, hooks).run();
}

std::vector<std::size_t> trials_to_retrain(const std::vector<Trial>& population,
                                           std::size_t count) {
  std::vector<std::size_t> order(population.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return population[a].fitness > population[b].fitness;
  });
  std::vector<std::size_t> chosen;
  const auto add = [&](std::size_t trial) {
    const bool is_double = std::any_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
      return population[other].sampled.plan == population[trial].sampled.plan;
    });
    if (!is_double) chosen.push_back(trial);
  };
  for (const std::size_t trial : order) {
    if (chosen.size() < count) add(trial);
  }
  return chosen;
}

}  // namespace bet
