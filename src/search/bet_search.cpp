#include "search/bet_search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/stopwatch.h"
#include "plan/rule_plans.h"

namespace bet {
namespace {

// Plans that are tried in addition to the rules come in generations. All of the first are drawn
// from anywhere; of the others one in kDrawnOneIn, and the rest are near the best so far.
constexpr std::uint32_t kGeneration = 8;
constexpr std::uint32_t kDrawnOneIn = 8;
constexpr std::size_t kParents = 4;
// How far plans are from those they are near to, as a share of each number's range: at first and at
// last.
constexpr double kFirstReach = 0.3;
constexpr double kLastReach = 0.1;

// The lengths of the rungs as parts of the best length, and the least of any.
constexpr std::uint64_t kFirst = 16;
constexpr std::uint64_t kLast = 2;
constexpr std::uint64_t kLeastSteps = 50;

// How many of the best of `count` finalists are measured on another fold as well: the fewer are
// left, the surer must be which is better. None where that would leave no choice.
std::size_t num_measured_again(std::size_t count) { return count > 2 ? (count + 1) / 2 : 0; }

std::uint64_t num_last_trainings(const SearchOptions& options) {
  const std::size_t finalists = options.finalists + 1;
  return finalists + num_measured_again(finalists);
}

std::string trial_text(const Trial& trial) {
  char text[256];
  const PlanOrigin& origin = trial.sampled.origin;
  std::snprintf(text, sizeof(text),
                "training %u  plan %llu, %s  %llu steps, fold %u  score %.5f  users %.3f of the "
                "budget, %s %.3f of %.2f / %s %.3f of %.2f  largest size %u  %.2f s",
                trial.iteration, static_cast<unsigned long long>(trial.candidate),
                std::string(strategy_name(trial.strategy)).c_str(),
                static_cast<unsigned long long>(trial.steps), trial.fold, trial.fitness,
                origin.user_share, std::string(family_name(origin.user_family)).c_str(),
                origin.user_shape, origin.user_kept,
                std::string(family_name(origin.item_family)).c_str(), origin.item_shape,
                origin.item_kept, trial.sampled.plan.largest_size(), trial.seconds);
  return text;
}

class Stopped {};

class PlanSearch {
 public:
  PlanSearch(const PlanSampler& sampler, RungTrainer& trainer, RunStore& store,
             const SearchOptions& options, const TrainingHooks& hooks,
             const std::function<void()>& has_plan)
      : sampler_(sampler),
        trainer_(trainer),
        store_(store),
        options_(options),
        hooks_(hooks),
        has_plan_(has_plan),
        stored_(store.trials(sampler.shape())) {}

  SearchResult run() {
    try {
      search();
    } catch (const Stopped&) {
      result_.stopped = true;
    }
    if (!scores_.empty()) choose();
    return std::move(result_);
  }

 private:
  struct Candidate {
    SampledPlan sampled;
    Strategy strategy = Strategy::kRule;
  };
  using Numbers = std::vector<std::size_t>;  // of candidates

  void search() {
    for (SampledPlan& rule : rule_plans(sampler_)) {
      candidates_.push_back({std::move(rule), Strategy::kRule});
    }
    num_rules_ = candidates_.size();
    expected_ = expected_trainings(options_, num_rules_);
    find_length();
    plan_work();
    const Rung first = {rung_steps(kFirst)};
    Numbers fresh(candidates_.size());
    std::iota(fresh.begin(), fresh.end(), 0U);
    train(fresh, first);
    for (std::uint32_t made = 0; made < options_.num_plans;) {
      const Numbers parents = best_of(first, kParents);
      const double reach = kFirstReach * std::pow(kLastReach / kFirstReach,
                                                  static_cast<double>(made) / options_.num_plans);
      const bool none_drawn = made == 0;
      const std::uint32_t last = std::min(made + kGeneration, options_.num_plans);
      fresh.clear();
      for (; made < last; ++made) {
        if (none_drawn || made % kDrawnOneIn == 0) {
          add_fresh(sampler_.draw_any(options_.seed, made), Strategy::kRandom, fresh);
        } else {
          const PlanOrigin& parent = candidates_[parents[made % parents.size()]].sampled.origin;
          add_fresh(sampler_.draw_near(parent, reach, options_.seed, made), Strategy::kNearBest,
                    fresh);
        }
      }
      train(fresh, first);
    }
    Numbers finalists = best_of(first, options_.finalists);
    add_best_rule(first, finalists);
    Rung last = {rung_steps(kLast)};
    train(finalists, last);
    const Numbers best = best_of(last, num_measured_again(finalists.size()));
    last.fold = 1;
    train(best, last);
  }

  // Adds a plan to the candidates and its number to `fresh`, unless it is one of them.
  void add_fresh(SampledPlan sampled, Strategy strategy, Numbers& fresh) {
    const bool known = std::ranges::any_of(
        candidates_, [&](const Candidate& other) { return other.sampled.plan == sampled.plan; });
    if (known) return;
    fresh.push_back(candidates_.size());
    candidates_.push_back({std::move(sampled), strategy});
  }

  // The length that all rungs are parts of, from the first rule: how long is good depends on the
  // data far more than on the plan.
  void find_length() {
    if (!stored_.empty()) {
      const Trial& known = stored_.front();
      check_is(known, 0, {known.steps});
      length_ = known.steps;
      note(known);
      return;
    }
    if (options_.only_stored) throw Stopped();
    const Stopwatch watch;
    const std::optional<LengthByBpr> best =
        trainer_.length(candidates_.front().sampled.plan, [this](double part) { report(part); });
    if (!best) throw Stopped();
    length_ = best->steps_of(trainer_.whole_length());
    const Trial trial = {.iteration = 1,
                         .strategy = Strategy::kRule,
                         .sampled = candidates_.front().sampled,
                         .predicted = std::nullopt,
                         .fitness = best->score,
                         .seconds = watch.seconds(),
                         .steps = length_};
    add(std::span(&trial, 1));
  }

  std::uint64_t rung_steps(std::uint64_t part) const {
    return std::max(length_ / part, std::min(length_, kLeastSteps));
  }

  // Trains candidates, as many side by side as make sense, or takes the scores of an earlier
  // process: a group is stored as a whole, since scores depend, in their last bits, on who is
  // trained beside whom.
  void train(Numbers numbers, const Rung& rung) {
    // On small data several rungs have the same length.
    std::erase_if(numbers, [&](std::size_t number) {
      return !trained_.insert({rung.steps, rung.fold, number}).second;
    });
    std::vector<const SizePlan*> plans;
    for (const std::size_t number : numbers) plans.push_back(&candidates_[number].sampled.plan);
    for (std::size_t begin = 0; begin < numbers.size();) {
      const std::size_t count = RungTrainer::group_size(std::span(plans).subspan(begin));
      train_group(std::span(numbers).subspan(begin, count), std::span(plans).subspan(begin, count),
                  rung);
      begin += count;
    }
  }

  void train_group(std::span<const std::size_t> numbers, std::span<const SizePlan* const> plans,
                   const Rung& rung) {
    const std::size_t known = result_.trials.size();
    if (known < stored_.size()) {
      BET_CHECK(known + numbers.size() <= stored_.size(), "run.db ends within trainings ",
                known + 1, " to ", known + numbers.size(), ", which were made side by side");
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        check_is(stored_[known + i], numbers[i], rung);
        note(stored_[known + i]);
      }
      return;
    }
    if (options_.only_stored) throw Stopped();
    const Stopwatch watch;
    const double work =
        static_cast<double>(numbers.size() * rung.steps) / static_cast<double>(length_);
    const std::vector<double> scores =
        trainer_.scores(plans, rung, length_, [&](double part) { report(part * work); });
    if (scores.empty()) throw Stopped();
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Candidate& candidate = candidates_[numbers[i]];
      trials.push_back({static_cast<std::uint32_t>(known + i + 1), candidate.strategy, numbers[i],
                        candidate.sampled, std::nullopt, scores[i],
                        watch.seconds() / static_cast<double>(numbers.size()), rung.steps,
                        rung.fold});
    }
    add(trials);
  }

  void check_is(const Trial& stored, std::size_t number, const Rung& rung) const {
    BET_CHECK(stored.candidate == number && stored.steps == rung.steps &&
                  stored.fold == rung.fold &&
                  stored.sampled.plan == candidates_[number].sampled.plan,
              "run.db: training ", stored.iteration, " is not the one that this search makes");
  }

  void add(std::span<const Trial> trials) {
    store_.add(trials);
    for (const Trial& trial : trials) {
      if (hooks_.log) hooks_.log(trial_text(trial));
      note(trial);
    }
    report();
  }

  void note(const Trial& trial) {
    if (has_plan_ && trial.iteration == 2) has_plan_();
    result_.trials.push_back(trial);
    result_.steps += trial.steps;
    // The training that finds the length does not belong to a rung.
    if (trial.iteration > 1) scores_[trial.steps][trial.candidate].push_back(trial.fitness);
  }

  double score_of(std::uint64_t steps, std::size_t number) const {
    const auto& rung = scores_.at(steps);
    const auto found = rung.find(number);
    if (found == rung.end()) return -1;
    return std::accumulate(found->second.begin(), found->second.end(), 0.0) /
           static_cast<double>(found->second.size());
  }

  // The best candidates of a rung, best first, and the earlier among equals.
  Numbers best_of(const Rung& rung, std::size_t count) const {
    Numbers numbers;
    for (const auto& [number, scores] : scores_.at(rung.steps)) numbers.push_back(number);
    std::ranges::stable_sort(numbers, std::greater<>(),
                             [&](std::size_t n) { return score_of(rung.steps, n); });
    if (numbers.size() > count) numbers.resize(count);
    return numbers;
  }

  // The best rule of a rung, unless a rule is among `numbers` already.
  void add_best_rule(const Rung& rung, Numbers& numbers) const {
    const auto is_rule = [&](std::size_t number) { return number < num_rules_; };
    if (std::ranges::any_of(numbers, is_rule)) return;
    const Numbers all = best_of(rung, candidates_.size());
    const auto best = std::ranges::find_if(all, is_rule);
    if (best != all.end()) numbers.push_back(*best);
  }

  // Of the longest rung that measured anything, and of its plans that were measured on most folds,
  // the one of the highest mean score.
  void choose() {
    const auto& [steps, rung] = *scores_.rbegin();
    std::size_t best = rung.begin()->first;
    for (const auto& [number, scores] : rung) {
      const std::size_t folds = rung.at(best).size();
      const bool is_better =
          scores.size() == folds && score_of(steps, number) > score_of(steps, best);
      if (scores.size() > folds || is_better) best = number;
    }
    for (std::size_t i = result_.trials.size(); i-- > 1;) {
      if (result_.trials[i].candidate == best) {
        result_.chosen = i;
        return;
      }
    }
  }

  // What a search that is not cut short makes, once it knows its length.
  void plan_work() {
    const auto in_last = static_cast<double>(num_last_trainings(options_));
    const auto in_first = static_cast<double>(num_rules_ + options_.num_plans);
    result_.num_planned = 1 + static_cast<std::uint64_t>(in_first + in_last);
    expected_ = 1 + (in_first * static_cast<double>(rung_steps(kFirst)) +
                     in_last * static_cast<double>(rung_steps(kLast))) /
                        static_cast<double>(length_);
  }

  // `more`: trainings of the whole length, in addition to those that are noted.
  void report(double more = 0) {
    if (!hooks_.progress) return;
    double best = 0;
    for (const Trial& trial : result_.trials) best = std::max(best, trial.fitness);
    char detail[80];
    std::snprintf(detail, sizeof(detail), "%zu trainings, best validation score %.4f",
                  result_.trials.size(), best);
    const double done =
        length_ == 0 ? 0 : static_cast<double>(result_.steps) / static_cast<double>(length_);
    hooks_.progress({"search", done + more, expected_, best > 0 ? detail : ""});
  }

  const PlanSampler& sampler_;
  RungTrainer& trainer_;
  RunStore& store_;
  const SearchOptions& options_;
  const TrainingHooks& hooks_;
  const std::function<void()>& has_plan_;
  std::vector<Trial> stored_;  // by earlier processes
  std::vector<Candidate> candidates_;
  std::size_t num_rules_ = 0;  // the first candidates
  std::uint64_t length_ = 0;   // best for this data
  double expected_ = 0;        // trainings of the whole length
  std::set<std::tuple<std::uint64_t, std::uint32_t, std::size_t>> trained_;  // steps, fold, number
  // By steps of a rung and candidate: scores by fold.
  std::map<std::uint64_t, std::map<std::size_t, std::vector<double>>> scores_;
  SearchResult result_;
};

}  // namespace

double expected_trainings(const SearchOptions& options, std::size_t num_rules) {
  return 1 + static_cast<double>(num_rules + options.num_plans) / kFirst +
         static_cast<double>(num_last_trainings(options)) / kLast;
}

SearchResult search_plans(const PlanSampler& sampler, RungTrainer& trainer, RunStore& store,
                          const SearchOptions& options, const TrainingHooks& hooks,
                          const std::function<void()>& has_plan) {
  BET_CHECK(options.finalists > 0, "a search needs at least one finalist");
  return PlanSearch(sampler, trainer, store, options, hooks, has_plan).run();
}

}  // namespace bet
