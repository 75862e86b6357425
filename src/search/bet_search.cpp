#include "search/bet_search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/precision_text.h"
#include "base/stopwatch.h"
#include "plan/rule_plans.h"
#include "search/training_time.h"
#include "train/loss_choice.h"
#include "train/side_by_side.h"
#include "train/temperature.h"

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

// Steps of the last rung, where plans are compared that differ little.
std::uint64_t last_steps(const BackboneKind& backbone, std::uint64_t length) {
  return std::max(length / 2, fewest_ranking_steps(backbone, length));
}

// Steps of the middle rung, the plans in it for each that may become a finalist, and the rules.
std::uint64_t middle_steps(const BackboneKind& backbone, std::uint64_t length) {
  return std::max(length / 4, fewest_ranking_steps(backbone, length));
}
constexpr std::size_t kMiddlePlans = 3;
constexpr std::size_t kMiddleRules = 3;

std::size_t num_middle_plans(const SearchOptions& options) {
  return kMiddlePlans * options.finalists + 1;
}

// With the rules that are taken along: the best, and of several precisions the best of each.
std::size_t most_middle_plans(const SearchOptions& options, std::size_t num_precisions) {
  return num_middle_plans(options) + kMiddleRules + num_rule_precisions(num_precisions);
}

// Kinds of losses that finalists are compared by, at most: the best for the first of them, and the
// second if its score is less than this times the noise below.
constexpr std::size_t kKinds = 2;
constexpr double kNearlyEqual = 3;

// Pairs of a plan and a loss that are trained to the whole length, in addition to the best of a
// rule: on the second fold, and then on each of the others.
constexpr std::size_t kWholePairs = 3;
constexpr std::size_t kLastPairs = 2;
constexpr std::size_t kPairsOnOtherFolds = kLastPairs * (kFolds - 2);
// Temperatures of the best pair that are tried at first, beside its own.
constexpr std::size_t kNeighbours = 2;
std::size_t num_whole_trainings(std::size_t num_losses) {
  return kWholePairs + 1 + kPairsOnOtherFolds + (num_losses > 1 ? kNeighbours : 0);
}

// Plans of the last rung, in addition to the best rule.
std::size_t num_finalists(const SearchOptions& options, std::size_t num_precisions) {
  return options.finalists + (num_precisions > 1 ? 1 : 0);
}

// The first finalist by all losses, then all of them by the best.
std::size_t num_last_trainings(const SearchOptions& options, std::size_t num_precisions,
                               std::size_t num_losses) {
  return num_losses + num_finalists(options, num_precisions) + (num_losses > 1 ? 1 : 0);
}

// At most: other temperatures in the last rung and at the whole length, and a second kind of loss.
std::size_t num_more_trainings(const SearchOptions& options, std::size_t num_precisions,
                               std::size_t num_losses) {
  if (num_losses == 1) return 0;
  return 2 * kMoreTemperatures + (kKinds - 1) * (num_finalists(options, num_precisions) + 1);
}

std::string trial_text(const Trial& trial) {
  char text[320];
  const PlanOrigin& origin = trial.sampled.origin;
  std::snprintf(
      text, sizeof(text),
      "training %u  plan %llu, %s  %s, %llu steps, fold %u  score %.5f  users %.3f of the "
      "budget, %s %.3f of %.2f / %s %.3f of %.2f  largest size %u, %s%s  %.2f s",
      trial.iteration, static_cast<unsigned long long>(trial.candidate),
      std::string(strategy_name(trial.strategy)).c_str(), loss_text(trial.loss).c_str(),
      static_cast<unsigned long long>(trial.steps), trial.fold, trial.fitness, origin.user_share,
      std::string(family_name(origin.user_family)).c_str(), origin.user_shape, origin.user_kept,
      std::string(family_name(origin.item_family)).c_str(), origin.item_shape, origin.item_kept,
      trial.sampled.plan.largest_size(), precision_text(origin.precision).c_str(),
      origin.form == StoredForm::kVectors ? " vectors" : "", trial.seconds);
  return text;
}

class Stopped {};

class PlanSearch {
 public:
  PlanSearch(std::span<const PlanSampler> samplers, RungTrainer& trainer, RunStore& store,
             SharedTasks& tasks, const SearchOptions& options, const TrainingHooks& hooks,
             const std::function<void()>& has_plan)
      : samplers_(samplers),
        trainer_(trainer),
        store_(store),
        tasks_(tasks),
        options_(options),
        hooks_(hooks),
        has_plan_(has_plan),
        stored_(store.trials(samplers.front().shape())),
        time_(trainer.device()) {
    SharedTasks::Result numbers;
    for (const Trial& trial : stored_) {
      numbers.insert(numbers.end(), {static_cast<double>(trial.iteration), trial.fitness,
                                     trial.seconds, static_cast<double>(trial.steps)});
    }
    numbers = tasks_.from_first_rank(numbers);
    for (std::size_t i = 0; i < numbers.size(); i += 4) {
      known_[static_cast<std::size_t>(numbers[i])] = {numbers[i + 1], numbers[i + 2],
                                                      static_cast<std::uint64_t>(numbers[i + 3])};
    }
  }

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
  // A candidate, and which of the losses that it may have (RungTrainer::losses), at so many times
  // its temperature.
  struct Choice {
    std::size_t number = 0;
    std::size_t loss = 0;
    double warmer = 1;
    auto operator<=>(const Choice&) const = default;
  };
  using Choices = std::vector<Choice>;
  using Numbers = std::vector<std::size_t>;  // of candidates
  // What an earlier process measured.
  struct Known {
    double fitness = 0;
    double seconds = 0;
    std::uint64_t steps = 0;
  };
  // Trainings of a rung, and which of them are made side by side: the end of each group, and its
  // work.
  struct Groups {
    Choices choices;
    std::vector<PlanAndLoss> trained;
    std::uint64_t steps = 0;
    std::size_t num_before = 0;  // trainings of the search before these
    std::vector<std::size_t> ends;
    std::vector<TrainingWork> works;

    std::size_t begin_of(std::size_t group) const { return group > 0 ? ends[group - 1] : 0; }
    std::size_t size_of(std::size_t group) const { return ends[group] - begin_of(group); }
    std::span<const PlanAndLoss> trainings_of(std::size_t group) const {
      return std::span(trained).subspan(begin_of(group), size_of(group));
    }
  };

  void search() {
    for (const PlanSampler& sampler : samplers_) {
      for (SampledPlan& rule : rule_plans(sampler)) {
        candidates_.push_back({std::move(rule), Strategy::kRule});
      }
    }
    num_rules_ = candidates_.size();
    num_losses_ = trainer_.losses(candidates_.front().sampled.plan, 1).size();
    count_trainings();
    length_ = trainer_.whole_length();
    find_length();
    count_trainings();
    const Rung first = first_rung();
    left_.first = options_.num_plans;
    train(rule_choices(), first);
    Choices fresh;
    for (std::uint32_t made = 0; made < options_.num_plans;) {
      const Choices parents = best_parents(first);
      const double reach = kFirstReach * std::pow(kLastReach / kFirstReach,
                                                  static_cast<double>(made) / options_.num_plans);
      const bool none_drawn = made == 0;
      const std::uint32_t last = std::min(made + kGeneration, options_.num_plans);
      fresh.clear();
      for (; made < last; ++made) {
        if (none_drawn || made % kDrawnOneIn == 0) {
          const PlanSampler& sampler = samplers_[made % samplers_.size()];
          add_fresh(sampler.draw_any(options_.seed, made), Strategy::kRandom, fresh);
        } else {
          const PlanOrigin& parent =
              candidates_[parents[made % parents.size()].number].sampled.origin;
          add_fresh(sampler_of(parent.form).draw_near(parent, reach, options_.seed, made),
                    Strategy::kNearBest, fresh);
        }
      }
      left_.first = options_.num_plans - made;
      train(fresh, first);
    }
    Choices better = best_of(first, num_middle_plans(options_));
    add_best_rules(first, kMiddleRules, better);
    add_best_of_precisions(first, better);
    const Rung middle = {middle_steps(trainer_.backbone(), length_)};
    left_.middle = 0;
    train(better, middle);
    Choices finalists = best_finalists(middle);
    add_best_rules(middle, 1, finalists);
    const Rung last = {last_steps(trainer_.backbone(), length_)};
    const Choices pairs = train_finalists(finalists, last);
    Choices best = pairs;
    if (best.size() > kWholePairs) best.resize(kWholePairs);
    add_best_rules(pairs, 1, best);
    // One alone is chosen already.
    if (best.size() > 1) best = compare_whole_trainings(std::move(best));
    tune(best.front());
  }

  Rung first_rung() const { return {fewest_ranking_steps(trainer_.backbone(), length_)}; }

  Choice first_choice(std::size_t number) const {
    return {number, trainer_.first_loss(candidates_[number].sampled.plan, few_data_)};
  }

  Choices rule_choices() const {
    Choices choices;
    for (std::size_t rule = 0; rule < num_rules_; ++rule) choices.push_back(first_choice(rule));
    return choices;
  }

  // The first of them by all losses, and by more temperatures until the best is between two others.
  // Then all by the loss that was best, at the temperature that the others tell, and by the best of
  // another kind if it is about as good. Returns these pairs of a plan and a loss, best first.
  Choices train_finalists(const Choices& finalists, const Rung& rung) {
    const std::size_t number = finalists.front().number;
    const auto by_score = [&](const Choice& one) { return score_of(rung.steps, one); };
    Choices tried;
    for (std::size_t loss = 0; loss < num_losses_; ++loss) tried.push_back({number, loss});
    left_.last -= std::min(left_.last, tried.size());
    train(tried, rung);
    if (num_losses_ > 1) try_more_temperatures(tried, rung);
    std::ranges::stable_sort(tried, std::greater<>(), by_score);
    Choices pairs;
    for (const Choice& kind : best_kinds(tried, rung)) {
      for (const Choice& one : finalists) pairs.push_back({one.number, kind.loss, kind.warmer});
    }
    left_.last = 0;
    train(pairs, rung);
    std::ranges::stable_sort(pairs, std::greater<>(), by_score);
    return pairs;
  }

  // Of a plan's losses, best first: the best of each kind, at its best temperature, as far as they
  // are about as good as the best of all.
  Choices best_kinds(const Choices& tried, const Rung& rung) const {
    const double least = (1 - kNearlyEqual * trainer_.noise()) * score_of(rung.steps, tried[0]);
    Choices kinds;
    for (const Choice& one : tried) {
      const auto is_alike = [&](const Choice& other) {
        return are_alike(loss_of(one), loss_of(other));
      };
      if (kinds.size() == kKinds || score_of(rung.steps, one) < least) break;
      if (std::ranges::any_of(kinds, is_alike)) continue;
      Choices alike;
      std::ranges::copy_if(tried, std::back_inserter(alike), is_alike);
      kinds.push_back(at_temperature(one, best_temperature(trials_by(alike, rung))));
    }
    return kinds;
  }

  Choice at_temperature(Choice choice, double temperature) const {
    choice.warmer *= temperature / loss_of(choice).temperature;
    return choice;
  }

  LossOptions loss_of(const Choice& choice) const {
    LossOptions loss =
        trainer_.losses(candidates_[choice.number].sampled.plan, length_)[choice.loss];
    loss.temperature *= choice.warmer;
    return loss;
  }

  // Choices of one candidate, by the fold that they were trained on last, which is the same.
  std::vector<LossTrial> trials_by(const Choices& tried, const Rung& rung) const {
    std::vector<LossTrial> trials;
    for (const Choice& one : tried) {
      trials.push_back({loss_of(one), scores_.at(rung.steps).at(one).back()});
    }
    return trials;
  }

  // Until the best is between two others.
  void try_more_temperatures(Choices& tried, const Rung& rung) {
    for (int more = 0; more < kMoreTemperatures; ++more) {
      const std::vector<LossTrial> trials = trials_by(tried, rung);
      const std::optional<double> next = next_temperature(trials);
      if (!next) return;
      const auto best = std::ranges::max_element(trials, {}, &LossTrial::score) - trials.begin();
      tried.push_back(at_temperature(tried[static_cast<std::size_t>(best)], *next));
      train({tried.back()}, rung);
    }
  }

  // The rest of a training may change which of two pairs is ahead, and so may the items that are
  // held out: these are trained as finally on the folds that did not choose them.
  Choices compare_whole_trainings(Choices pairs) {
    const std::size_t neighbours = num_losses_ > 1 ? kNeighbours : 0;
    left_.whole = kPairsOnOtherFolds + neighbours;
    for (std::uint32_t fold = 1; fold < kFolds; ++fold) {
      // Losses of a kind stand together: they are trained side by side.
      std::ranges::stable_sort(pairs, {}, &Choice::loss);
      const auto before = scores_;
      try {
        train(pairs, {length_, fold});
      } catch (const Stopped&) {
        scores_ = before;  // those that came first are not better than the others
        throw;
      }
      std::ranges::stable_sort(pairs, std::greater<>(),
                               [&](const Choice& pair) { return score_of(length_, pair); });
      if (pairs.size() > kLastPairs) pairs.resize(kLastPairs);
      left_.whole = neighbours;
    }
    return pairs;
  }

  // The temperature of a pair at the whole length: that of shorter trainings is only about the best
  // there (docs/studies/loss.md).
  void tune(const Choice& pair) {
    left_.whole = 0;
    if (num_losses_ == 1 || !has_temperature(loss_of(pair))) return;
    const Rung whole = {length_, kFolds - 1};
    Choices tried = {pair};
    for (const double factor : {0.5, 2.0}) {
      tried.push_back({pair.number, pair.loss, factor * pair.warmer});
    }
    train(tried, whole);
    try_more_temperatures(tried, whole);
    tuned_ = at_temperature(pair, best_temperature(trials_by(tried, whole)));
  }

  // Adds a plan to the candidates and its number to `fresh`, unless it is one of them.
  void add_fresh(SampledPlan sampled, Strategy strategy, Choices& fresh) {
    const bool known = std::ranges::any_of(
        candidates_, [&](const Candidate& other) { return other.sampled.plan == sampled.plan; });
    if (known) return;
    candidates_.push_back({std::move(sampled), strategy});
    fresh.push_back(first_choice(candidates_.size() - 1));
  }

  // The length that all rungs are parts of: that of the whole schedule, unless equal sizes overfit
  // in it. Then the best length depends on the plan: it is that of the best of three plans, with
  // equal sizes, with most for the users and with most for the items. Data are few if that is short
  // too: very small tables of equal sizes overfit on large data as well.
  void find_length() {
    constexpr std::size_t kEqualSizes = 0;
    const auto share = [](const Candidate& rule) { return rule.sampled.origin.user_share; };
    const auto [least, most] = std::ranges::minmax_element(candidates_, {}, share);
    const Numbers others = {static_cast<std::size_t>(least - candidates_.begin()),
                            static_cast<std::size_t>(most - candidates_.begin())};
    expect_lengths(Numbers{kEqualSizes});
    if (!replay_length(kEqualSizes)) find_length_of(kEqualSizes, others);
    if (equal_sizes_overfit()) find_lengths(others);
    next_lengths_.clear();
    result_.num_lengths = equal_sizes_overfit() ? result_.trials.size() : 1;
    const auto found = std::span(result_.trials).first(result_.num_lengths);
    length_ = std::ranges::max_element(found, {}, &Trial::fitness)->steps;
    few_data_ = length_ < trainer_.whole_length();
  }

  // By the first training.
  bool equal_sizes_overfit() const {
    return result_.trials.front().steps < trainer_.whole_length();
  }

  // The best length of the first rule, which one rank finds. The others do meanwhile what comes
  // next, if data are as expected: find the lengths of `others` where data are few, or train the
  // first rung as if it were the whole length. If data are not, this is left out.
  void find_length_of(std::size_t rule, const Numbers& others) {
    constexpr double kFirst = std::numeric_limits<double>::infinity();  // the others wait for it
    std::vector<double> costs = {kFirst};
    Groups ahead;
    const bool is_alone = tasks_.num_ranks() == 1;
    const std::size_t num_others = !is_alone && options_.expects_few_data ? others.size() : 0;
    costs.resize(1 + num_others);
    expect_lengths(std::span(others).first(num_others));
    if (!is_alone && !options_.expects_few_data) {
      ahead = untrained(rule_choices(), first_rung());
      ++ahead.num_before;  // the one that finds the length
      divide(ahead);
      left_.first -= num_rules_;
      for (const TrainingWork& work : ahead.works) costs.push_back(time_.of(work));
    }
    expect(ahead.works);
    const auto is_unexpected = [&] {
      return !result_.trials.empty() && equal_sizes_overfit() != options_.expects_few_data;
    };
    run_tasks(
        std::move(costs),
        [&](std::size_t task) -> std::vector<double> {
          if (task == 0) return best_length(rule);
          if (is_unexpected()) return {0};  // is not read
          return task <= num_others ? best_length(others[task - 1]) : train_group(ahead, task - 1);
        },
        // Whether the others are kept is known when the length is.
        nullptr,
        [&](std::size_t task, std::span<const double> result, double seconds) {
          if (task == 0) {
            add_length(rule, result, seconds);
            result_.num_lengths = equal_sizes_overfit() ? 0 : 1;
          } else if (is_unexpected()) {
            return;
          } else if (task <= num_others) {
            add_length(others[task - 1], result, seconds);
          } else {
            const std::vector<Trial> trials = trials_of(ahead, task - 1, result, seconds);
            store_.add(trials);
            add_new_group(ahead, task - 1, trials);
          }
        });
  }

  // The best lengths of the rules after the first whose length is not known yet, as trials.
  void find_lengths(const Numbers& rules) {
    std::size_t first = result_.trials.size() - 1;
    next_lengths_.clear();
    expect_lengths(std::span(rules).subspan(first));
    while (first < rules.size() && replay_length(rules[first])) ++first;
    if (first == rules.size()) return;
    run_tasks(
        std::vector<double>(rules.size() - first),
        [&](std::size_t task) { return best_length(rules[first + task]); }, nullptr,
        [&](std::size_t task, std::span<const double> result, double seconds) {
          add_length(rules[first + task], result, seconds);
        });
  }

  // The score at the best length of a rule, and that length; empty if it was stopped.
  std::vector<double> best_length(std::size_t rule) {
    const SizePlan& plan = candidates_[rule].sampled.plan;
    const auto best =
        trainer_.length(plan, [&](double part) { report(part * time_.of(whole_training(plan))); });
    if (!best) return {};
    return {best->score,
            static_cast<double>(best->is_short ? best->length : trainer_.whole_length())};
  }

  void add_length(std::size_t rule, std::span<const double> found, double seconds) {
    const Trial trial = trial_of(result_.trials.size() + 1, {rule}, {},
                                 {found[0], seconds, static_cast<std::uint64_t>(found[1])});
    store_.add(std::span(&trial, 1));
    note_length_time(trial);
    log(trial);
    note(trial, {rule});
    report();
  }

  // Trains candidates, as many side by side as make sense, or takes the scores of an earlier
  // process: those of whole groups, since scores depend, in their last bits, on who is trained
  // beside whom.
  void train(const Choices& choices, const Rung& rung) {
    Groups groups = untrained(choices, rung);
    if (groups.choices.empty()) return;
    divide(groups);
    expect(groups.works);
    std::vector<std::size_t> missing;
    std::vector<double> costs;
    for (std::size_t group = 0; group < groups.ends.size(); ++group) {
      if (is_known(groups, group)) continue;
      missing.push_back(group);
      costs.push_back(time_.of(groups.works[group]));
    }
    missing.push_back(groups.ends.size());
    std::size_t next = 0;
    const auto take_known = [&](std::size_t end) {
      for (; next < end; ++next) add_group(groups, next, known_trials(groups, next));
    };
    take_known(missing.front());
    if (costs.empty()) return;
    TaskResult store;  // others than the first rank need not ask for what they do not store
    if (tasks_.is_first_rank()) {
      store = [&](std::size_t task, std::span<const double> scores, double seconds) {
        store_.add(trials_of(groups, missing[task], scores, seconds));
      };
    }
    run_tasks(
        std::move(costs), [&](std::size_t task) { return train_group(groups, missing[task]); },
        store,
        [&](std::size_t task, std::span<const double> scores, double seconds) {
          add_new_group(groups, missing[task], trials_of(groups, missing[task], scores, seconds));
          next = missing[task] + 1;
          take_known(missing[task + 1]);
        });
  }

  // The trainings of a rung that are not made yet: on small data several rungs have the same
  // length.
  Groups untrained(const Choices& choices, const Rung& rung) const {
    Groups groups;
    groups.steps = rung.steps;
    groups.num_before = result_.trials.size();
    for (const Choice& choice : choices) {
      if (trained_.contains({rung.steps, rung.fold, choice})) continue;
      groups.choices.push_back(choice);
      const SizePlan& plan = candidates_[choice.number].sampled.plan;
      groups.trained.push_back({&plan, loss_of(choice), rung.fold});
    }
    return groups;
  }

  void divide(Groups& groups) const {
    groups.ends = trainer_.groups(groups.trained, tasks_.num_ranks());
    for (std::size_t group = 0; group < groups.ends.size(); ++group) {
      double columns = 0;
      for (const PlanAndLoss& one : groups.trainings_of(group)) columns += columns_of(*one.plan);
      const auto count = static_cast<double>(groups.size_of(group));
      groups.works.push_back({columns, count, groups.steps});
    }
  }

  std::vector<double> train_group(const Groups& groups, std::size_t group) {
    return trainer_.scores(groups.trainings_of(group), groups.steps, length_,
                           [&](double part) { report(part * time_.of(groups.works[group])); });
  }

  std::vector<Trial> trials_of(const Groups& groups, std::size_t group,
                               std::span<const double> scores, double seconds) const {
    std::vector<Trial> trials;
    for (std::size_t i = groups.begin_of(group); i < groups.ends[group]; ++i) {
      trials.push_back(trial_of(
          groups.num_before + i + 1, groups.choices[i], groups.trained[i],
          {scores[trials.size()], seconds / static_cast<double>(scores.size()), groups.steps}));
    }
    return trials;
  }

  // Whether earlier processes made all trainings of a group: they did not if there were more or
  // fewer ranks, and the last rung was not finished.
  bool is_known(const Groups& groups, std::size_t group) const {
    for (std::size_t i = groups.begin_of(group); i < groups.ends[group]; ++i) {
      if (!known_.contains(groups.num_before + i + 1)) return false;
    }
    return true;
  }

  std::vector<Trial> known_trials(const Groups& groups, std::size_t group) const {
    std::vector<Trial> trials;
    for (std::size_t i = groups.begin_of(group); i < groups.ends[group]; ++i) {
      const std::size_t iteration = groups.num_before + i + 1;
      Known known = known_.at(iteration);
      known.steps = groups.steps;
      trials.push_back(trial_of(iteration, groups.choices[i], groups.trained[i], known));
      check_is_stored(trials.back());
    }
    return trials;
  }

  void add_new_group(const Groups& groups, std::size_t group, const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) log(trial);
    add_group(groups, group, trials);
  }

  void add_group(const Groups& groups, std::size_t group, const std::vector<Trial>& trials) {
    double seconds = 0;
    for (const Trial& trial : trials) seconds += trial.seconds;
    spent_ += seconds;
    time_.note(groups.works[group], seconds);
    next_.erase(next_.begin());
    for (std::size_t i = 0; i < trials.size(); ++i) {
      note(trials[i], groups.choices[groups.begin_of(group) + i]);
    }
    report();
  }

  // Does tasks, of such costs, on all ranks. Told of each, with the seconds that it took: `heard`,
  // if not empty, as soon as it is known here, and `done` in order.
  using TaskResult = std::function<void(std::size_t, std::span<const double>, double)>;
  void run_tasks(std::vector<double> costs,
                 const std::function<std::vector<double>(std::size_t)>& work,
                 const TaskResult& heard, const TaskResult& done) {
    if (options_.only_stored) throw Stopped();
    SharedTasks::Batch batch;
    batch.count = costs.size();
    batch.costs = std::move(costs);
    batch.work = [&](std::size_t task) {
      const Stopwatch watch;
      std::vector<double> result = work(task);
      if (!result.empty()) result.push_back(watch.seconds());
      return result;
    };
    const auto told = [](const TaskResult& of) {
      return [&of](std::size_t task, const std::vector<double>& result) {
        of(task, std::span(result).first(result.size() - 1), result.back());
      };
    };
    if (heard) batch.heard = told(heard);
    batch.done = told(done);
    batch.stop = [this] {
      leave_if_asked(hooks_);
      return hooks_.stop && hooks_.stop();
    };
    if (!tasks_.run(batch)) throw Stopped();
  }

  Trial trial_of(std::size_t iteration, const Choice& choice, const PlanAndLoss& trained,
                 const Known& measured) const {
    const Candidate& candidate = candidates_[choice.number];
    return {.iteration = static_cast<std::uint32_t>(iteration),
            .strategy = candidate.strategy,
            .candidate = choice.number,
            .sampled = candidate.sampled,
            .predicted = std::nullopt,
            .fitness = measured.fitness,
            .seconds = measured.seconds,
            .steps = measured.steps,
            .fold = trained.fold,
            .loss = trained.loss};
  }

  // Takes the next training, which finds the best length of a rule, from those of earlier
  // processes, if they made it.
  bool replay_length(std::size_t rule) {
    const std::size_t iteration = result_.trials.size() + 1;
    const auto known = known_.find(iteration);
    if (known == known_.end()) return false;
    const Trial trial = trial_of(iteration, {rule}, {}, known->second);
    check_is_stored(trial);
    note_length_time(trial);
    note(trial, {rule});
    return true;
  }

  // Of a training of an earlier process: that it is the one which this search makes.
  void check_is_stored(const Trial& made) const {
    if (!tasks_.is_first_rank()) return;
    const Trial& stored = *std::ranges::lower_bound(stored_, made.iteration, {}, &Trial::iteration);
    BET_CHECK(stored.candidate == made.candidate && stored.steps == made.steps &&
                  stored.fold == made.fold && stored.loss == made.loss &&
                  stored.sampled.plan == made.sampled.plan,
              "run.db: training ", stored.iteration, " is not the one that this search makes");
  }

  void log(const Trial& trial) const {
    if (hooks_.log) hooks_.log(trial_text(trial));
  }

  void note(const Trial& trial, const Choice& choice) {
    const bool in_rung = result_.num_lengths > 0;
    if (has_plan_ && in_rung && scores_.empty()) has_plan_();
    result_.trials.push_back(trial);
    choices_.push_back(choice);
    result_.steps += trial.steps;
    // The trainings that find the length do not belong to a rung.
    if (!in_rung) return;
    trained_.insert({trial.steps, trial.fold, choice});
    scores_[trial.steps][choice].push_back(trial.fitness);
  }

  double score_of(std::uint64_t steps, const Choice& choice) const {
    const std::vector<double>& scores = scores_.at(steps).at(choice);
    return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  }

  // The candidates of a rung with every loss that they were trained by, best first, and the earlier
  // among equals.
  Choices best_pairs(const Rung& rung) const {
    Choices all;
    for (const auto& [choice, scores] : scores_.at(rung.steps)) all.push_back(choice);
    std::ranges::stable_sort(all, std::greater<>(),
                             [&](const Choice& one) { return score_of(rung.steps, one); });
    return all;
  }

  // The best candidates of a rung, each by its best loss, best first, and the earlier among equals.
  Choices best_of(const Rung& rung, std::size_t count) const {
    Choices best;
    for (const Choice& choice : best_pairs(rung)) {
      if (best.size() == count) break;
      const bool known = std::ranges::find(best, choice.number, &Choice::number) != best.end();
      if (!known) best.push_back(choice);
    }
    return best;
  }

  const PlanSampler& sampler_of(StoredForm form) const {
    return *std::ranges::find(samplers_, form,
                              [](const PlanSampler& sampler) { return sampler.limit().form; });
  }

  // What short trainings compare less well than sizes.
  std::pair<TablePrecision, StoredForm> precision_of(const Choice& choice) const {
    const SizePlan& plan = candidates_[choice.number].sampled.plan;
    return {plan.precision(), plan.form()};
  }

  bool has_precision(const Choices& choices,
                     const std::pair<TablePrecision, StoredForm>& precision) const {
    return std::ranges::any_of(
        choices, [&](const Choice& other) { return precision_of(other) == precision; });
  }

  std::size_t num_precisions() const {
    std::size_t count = 0;
    for (const PlanSampler& sampler : samplers_) count += sampler.limit().precisions.size();
    return count;
  }
  bool has_precisions() const { return num_precisions() > 1; }

  // The best of each of the best precisions: a short training tells less about the precision than
  // about the rest of a plan, and the best plans are often alike.
  Choices best_of_precisions(const Rung& rung, std::size_t count) const {
    Choices best;
    for (const Choice& one : best_of(rung, candidates_.size())) {
      if (best.size() == count) break;
      if (!has_precision(best, precision_of(one))) best.push_back(one);
    }
    return best;
  }

  // The candidates of a rung that others are drawn near to.
  Choices best_parents(const Rung& rung) const {
    return has_precisions() ? best_of_precisions(rung, kParents) : best_of(rung, kParents);
  }

  Choices best_finalists(const Rung& rung) const {
    const std::size_t count = num_finalists(options_, num_precisions());
    return has_precisions() ? best_of_precisions(rung, count) : best_of(rung, count);
  }

  // Adds the best rule of each precision, so that none is left out by a short training.
  void add_best_of_precisions(const Rung& rung, Choices& choices) const {
    if (!has_precisions()) return;
    for (const Choice& one : best_of(rung, candidates_.size())) {
      if (one.number < num_rules_ && !has_precision(choices, precision_of(one))) {
        choices.push_back(one);
      }
    }
  }

  // Adds the best rules of a rung, so that `count` are among the choices.
  void add_best_rules(const Rung& rung, std::size_t count, Choices& choices) const {
    add_best_rules(best_of(rung, candidates_.size()), count, choices);
  }

  // The same of choices that are given, best first.
  void add_best_rules(const Choices& ranked, std::size_t count, Choices& choices) const {
    const auto is_rule = [&](const Choice& choice) { return choice.number < num_rules_; };
    auto missing = static_cast<std::ptrdiff_t>(count) - std::ranges::count_if(choices, is_rule);
    for (const Choice& one : ranked) {
      if (missing <= 0) break;
      const bool known = std::ranges::find(choices, one.number, &Choice::number) != choices.end();
      if (!is_rule(one) || known) continue;
      choices.push_back(one);
      --missing;
    }
  }

  // Of the longest rung that measured anything, and of its plans and losses that were measured on
  // most folds, those of the highest mean score.
  void choose() {
    const auto& [steps, rung] = *scores_.rbegin();
    Choice best = rung.begin()->first;
    for (const auto& [choice, scores] : rung) {
      const std::size_t folds = rung.at(best).size();
      const bool is_better =
          scores.size() == folds && score_of(steps, choice) > score_of(steps, best);
      if (scores.size() > folds || is_better) best = choice;
    }
    const auto last = std::find(choices_.rbegin(), choices_.rend(), best);
    result_.chosen = static_cast<std::size_t>(choices_.rend() - last) - 1;
    const SizePlan& plan = candidates_[best.number].sampled.plan;
    const std::uint64_t whole = trainer_.whole_length();
    const Choice& last_choice = tuned_.value_or(best);
    result_.loss = {trainer_.losses(plan, whole)[last_choice.loss], !few_data_};
    result_.loss.loss.temperature *= last_choice.warmer;
  }

  // Those that a search makes which is not cut short.
  void count_trainings() {
    left_ = {num_rules_ + options_.num_plans, most_middle_plans(options_, num_precisions()),
             num_last_trainings(options_, num_precisions(), num_losses_),
             num_whole_trainings(num_losses_)};
    result_.num_planned = std::max<std::size_t>(1, result_.num_lengths) + left_.first +
                          left_.middle + left_.last + left_.whole +
                          num_more_trainings(options_, num_precisions(), num_losses_);
  }

  double columns_of(const SizePlan& plan) const {
    return columns_side_by_side(plan, trainer_.backbone());
  }

  // About what finding the length of a plan takes.
  TrainingWork whole_training(const SizePlan& plan) const {
    return {columns_of(plan), 1, trainer_.whole_length()};
  }

  void note_length_time(const Trial& trial) {
    next_lengths_.erase(next_lengths_.begin());
    spent_ += trial.seconds;
    time_.note_roughly(whole_training(trial.sampled.plan), trial.seconds);
  }

  // About how many columns plans have that are yet to be trained: as the best of the first rung,
  // or, before there are any, as the candidates.
  double typical_columns() const {
    const Rung first = first_rung();
    double sum = 0;
    if (scores_.contains(first.steps)) {
      const Choices best = best_of(first, num_middle_plans(options_));
      for (const Choice& one : best) sum += columns_of(candidates_[one.number].sampled.plan);
      return sum / static_cast<double>(best.size());
    }
    for (const Candidate& one : candidates_) sum += columns_of(one.sampled.plan);
    return sum / static_cast<double>(candidates_.size());
  }

  // Expects trainings that are about to begin, and what follows them. A middle rung of as many
  // steps as the first one trains nothing.
  void expect(std::span<const TrainingWork> next) {
    next_.assign(next.begin(), next.end());
    const double columns = typical_columns();
    const double in_group = std::max(1.0, std::floor(trainer_.most_columns() / columns));
    later_.clear();
    const auto add = [&](std::size_t count, std::uint64_t steps) {
      later_.push_back(
          {static_cast<double>(count) / in_group, {columns * in_group, in_group, steps}});
    };
    const BackboneKind& backbone = trainer_.backbone();
    const std::uint64_t first = fewest_ranking_steps(backbone, length_);
    const std::uint64_t middle = middle_steps(backbone, length_);
    add(left_.first, first);
    if (middle > first) add(left_.middle, middle);
    add(left_.last, last_steps(backbone, length_));
    add(left_.whole, length_);
  }

  void expect_lengths(std::span<const std::size_t> rules) {
    for (const std::size_t rule : rules) {
      next_lengths_.push_back(whole_training(candidates_[rule].sampled.plan));
    }
  }

  // Seconds of the trainings that are not noted yet.
  double seconds_left() const {
    double sum = 0;
    for (const auto& [groups, work] : later_) sum += groups * time_.of(work);
    for (const TrainingWork& one : next_) sum += time_.of(one);
    for (const TrainingWork& one : next_lengths_) sum += time_.of(one);
    return sum;
  }

  // `more`: seconds of what is not noted yet.
  void report(double more = 0) {
    if (!hooks_.progress) return;
    double best = 0;
    for (const Trial& trial : result_.trials) best = std::max(best, trial.fitness);
    char detail[80];
    std::snprintf(detail, sizeof(detail), "%zu trainings, best validation score %.4f",
                  result_.trials.size(), best);
    const double left = std::max(0.0, seconds_left() - more);
    hooks_.progress({"search", spent_ + more, spent_ + more + left, best > 0 ? detail : ""});
  }

  std::span<const PlanSampler> samplers_;
  RungTrainer& trainer_;
  RunStore& store_;
  SharedTasks& tasks_;
  const SearchOptions& options_;
  const TrainingHooks& hooks_;
  const std::function<void()>& has_plan_;
  std::vector<Trial> stored_;           // by earlier processes: rank 0
  std::map<std::size_t, Known> known_;  // of each of them, by iteration: all ranks
  std::vector<Candidate> candidates_;
  std::size_t num_rules_ = 0;   // the first candidates
  std::size_t num_losses_ = 0;  // that a plan may have
  std::uint64_t length_ = 0;    // best for this data
  bool few_data_ = false;       // it is less than the whole
  struct {                      // by rung
    std::size_t first = 0, middle = 0, last = 0, whole = 0;
  } left_;  // trainings after those that are being made
  TrainingTime time_;
  double spent_ = 0;  // seconds that the noted trials took
  // What is being trained, those that come first: groups, and plans whose length is looked for.
  std::vector<TrainingWork> next_;
  std::vector<TrainingWork> next_lengths_;
  std::vector<std::pair<double, TrainingWork>> later_;  // and what follows: so many such groups
  std::set<std::tuple<std::uint64_t, std::uint32_t, Choice>> trained_;  // steps, fold
  // By steps of a rung: scores by fold.
  std::map<std::uint64_t, std::map<Choice, std::vector<double>>> scores_;
  std::vector<Choice> choices_;  // by trial
  std::optional<Choice> tuned_;  // the best pair, at its best temperature
  SearchResult result_;
};

}  // namespace

std::uint64_t expected_steps(const SearchOptions& options, const BackboneKind& backbone,
                             std::size_t num_rules, std::size_t num_precisions,
                             std::size_t num_losses, std::uint64_t length) {
  const std::uint64_t first = fewest_ranking_steps(backbone, length);
  const std::uint64_t middle = middle_steps(backbone, length);
  return length + (num_rules + options.num_plans) * first +
         (middle > first ? most_middle_plans(options, num_precisions) * middle : 0) +
         num_last_trainings(options, num_precisions, num_losses) * last_steps(backbone, length) +
         num_whole_trainings(num_losses) * length;
}

SearchResult search_plans(std::span<const PlanSampler> samplers, RungTrainer& trainer,
                          RunStore& store, SharedTasks& tasks, const SearchOptions& options,
                          const TrainingHooks& hooks, const std::function<void()>& has_plan) {
  BET_CHECK(options.finalists > 0, "a search needs at least one finalist");
  return PlanSearch(samplers, trainer, store, tasks, options, hooks, has_plan).run();
}

}  // namespace bet
