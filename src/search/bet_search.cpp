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
#include "train/loss_choice.h"
#include "train/side_by_side.h"

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

// Of the losses that are best for the first finalist, tried with the others.
constexpr std::size_t kLosses = 2;

// Pairs of a plan and a loss that are trained to the whole length, in addition to the best of a
// rule: on the second fold, and then on each of the others.
constexpr std::size_t kWholePairs = 3;
constexpr std::size_t kLastPairs = 2;
constexpr std::size_t kPairsOnOtherFolds = kLastPairs * (kFolds - 2);
constexpr std::size_t kWholeTrainings = kWholePairs + 1 + kPairsOnOtherFolds;

// Plans of the last rung, in addition to the best rule.
std::size_t num_finalists(const SearchOptions& options, std::size_t num_precisions) {
  return options.finalists + (num_precisions > 1 ? 1 : 0);
}

std::size_t num_last_trainings(const SearchOptions& options, std::size_t num_precisions,
                               std::size_t num_losses) {
  return num_losses + num_finalists(options, num_precisions) * std::min(num_losses, kLosses);
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
        stored_(store.trials(samplers.front().shape())) {
    SharedTasks::Result known;
    for (const Trial& trial : stored_) {
      known.insert(known.end(), {trial.fitness, static_cast<double>(trial.steps), trial.seconds});
    }
    known_ = tasks_.from_first_rank(known);
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
  // A candidate, and which of the losses that it may have (RungTrainer::losses).
  struct Choice {
    std::size_t number = 0;
    std::size_t loss = 0;
    auto operator<=>(const Choice&) const = default;
  };
  using Choices = std::vector<Choice>;
  // Trainings of a rung, and which of them are made side by side: the end of each group, and the
  // work that it takes.
  struct Groups {
    Choices choices;
    std::vector<PlanAndLoss> trained;
    std::uint64_t steps = 0;
    std::vector<std::size_t> ends;
    std::vector<double> works;

    std::size_t begin_of(std::size_t group) const { return group > 0 ? ends[group - 1] : 0; }
    std::span<const PlanAndLoss> trainings_of(std::size_t group) const {
      return std::span(trained).subspan(begin_of(group), ends[group] - begin_of(group));
    }
    double work() const { return std::accumulate(works.begin(), works.end(), 0.0); }
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
    train_finalists(finalists, last);
    Choices best = best_pairs(last);
    if (best.size() > kWholePairs) best.resize(kWholePairs);
    add_best_rules(last, 1, best);
    // One alone is chosen already.
    if (best.size() > 1) compare_whole_trainings(std::move(best));
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

  // The first of them by all losses, the others by those that are best for it.
  void train_finalists(const Choices& finalists, const Rung& rung) {
    const std::size_t number = finalists.front().number;
    Choices losses;
    for (std::size_t loss = 0; loss < num_losses_; ++loss) losses.push_back({number, loss});
    left_.last -= std::min(left_.last, losses.size());
    train(losses, rung);
    std::ranges::stable_sort(losses, std::greater<>(),
                             [&](const Choice& one) { return score_of(rung.steps, one); });
    if (losses.size() > kLosses) losses.resize(kLosses);
    Choices others;
    for (const Choice& finalist : std::span(finalists).subspan(1)) {
      for (const Choice& best : losses) others.push_back({finalist.number, best.loss});
    }
    // Losses of a kind stand together: they are trained side by side.
    std::ranges::stable_sort(others, {}, &Choice::loss);
    left_.last = 0;
    train(others, rung);
  }

  // The rest of a training may change which of two pairs is ahead, and so may the items that are
  // held out: these are trained as finally on the folds that did not choose them.
  void compare_whole_trainings(Choices pairs) {
    const auto before = scores_;
    left_.whole = kPairsOnOtherFolds;
    try {
      for (std::uint32_t fold = 1; fold < kFolds; ++fold) {
        // Losses of a kind stand together: they are trained side by side.
        std::ranges::stable_sort(pairs, {}, &Choice::loss);
        train(pairs, {length_, fold, fold + 1});
        std::ranges::stable_sort(pairs, std::greater<>(),
                                 [&](const Choice& pair) { return score_of(length_, pair); });
        if (pairs.size() > kLastPairs) pairs.resize(kLastPairs);
        left_.whole = 0;
      }
    } catch (const Stopped&) {
      scores_ = before;  // those that came first are not better than the others
      throw;
    }
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
  // in it. Then data are few, and the best length depends on the plan: it is that of the best of
  // three plans, with equal sizes, with most for the users and with most for the items.
  void find_length() {
    constexpr std::size_t kEqualSizes = 0;
    if (!replay({kEqualSizes}, {}, 0)) find_length_of(kEqualSizes);
    few_data_ = is_short(result_.trials.front());
    if (few_data_) {
      const auto share = [](const Candidate& rule) { return rule.sampled.origin.user_share; };
      const auto [least, most] = std::ranges::minmax_element(candidates_, {}, share);
      find_lengths({static_cast<std::size_t>(least - candidates_.begin()),
                    static_cast<std::size_t>(most - candidates_.begin())});
    }
    result_.num_lengths = few_data_ ? result_.trials.size() : 1;
    const auto found = std::span(result_.trials).first(result_.num_lengths);
    length_ = std::ranges::max_element(found, {}, &Trial::fitness)->steps;
  }

  bool is_short(const Trial& trial) const { return trial.steps < trainer_.whole_length(); }

  // The best length of the first rule, which one rank finds. The others train the first rung
  // meanwhile, as if it were the whole length: if data are few, this is left out.
  void find_length_of(std::size_t rule) {
    Groups ahead;
    if (tasks_.num_ranks() > 1) {
      ahead = untrained(rule_choices(), first_rung());
      divide(ahead);
      left_.first -= num_rules_;
    }
    expect(ahead.work());
    constexpr double kFirst = std::numeric_limits<double>::infinity();  // the others wait for it
    std::vector<double> costs = {kFirst};
    costs.insert(costs.end(), ahead.works.begin(), ahead.works.end());
    run_tasks(
        std::move(costs),
        [&](std::size_t task) -> std::vector<double> {
          if (task == 0) return best_length(rule);
          if (few_data_) return {0};  // is not read
          return train_group(ahead, task - 1);
        },
        [&](std::size_t task, std::span<const double> result, double seconds) {
          if (task == 0) {
            add_length(rule, result, seconds);
            few_data_ = is_short(result_.trials.front());
            result_.num_lengths = few_data_ ? 0 : 1;
          } else if (!few_data_) {
            add_group(ahead, task - 1, result, seconds);
          }
        });
  }

  // The best lengths of rules, as trials.
  void find_lengths(const std::vector<std::size_t>& rules) {
    std::size_t first = 0;
    while (first < rules.size() && replay({rules[first]}, {}, 0)) ++first;
    if (first == rules.size()) return;
    run_tasks(
        std::vector<double>(rules.size() - first),
        [&](std::size_t task) { return best_length(rules[first + task]); },
        [&](std::size_t task, std::span<const double> result, double seconds) {
          add_length(rules[first + task], result, seconds);
        });
  }

  // The score at the best length of a rule, and that length; empty if it was stopped.
  std::vector<double> best_length(std::size_t rule) {
    const SizePlan& plan = candidates_[rule].sampled.plan;
    const double work = work_of(plan, trainer_.whole_length());
    const auto best = trainer_.length(plan, [&](double part) { report(part * work); });
    if (!best) return {};
    return {best->score,
            static_cast<double>(best->is_short ? best->length : trainer_.whole_length())};
  }

  void add_length(std::size_t rule, std::span<const double> found, double seconds) {
    Trial trial = trial_of({rule}, {}, static_cast<std::uint64_t>(found[1]));
    trial.fitness = found[0];
    trial.seconds = seconds;
    done_ += work_of(trial.sampled.plan, trainer_.whole_length());
    add(std::span(&trial, 1), Choices{{rule}});
  }

  // Trains candidates, as many side by side as make sense, or takes the scores of an earlier
  // process: a group is stored as a whole, since scores depend, in their last bits, on who is
  // trained beside whom.
  void train(const Choices& choices, const Rung& rung) {
    Groups groups = untrained(choices, rung);
    std::ptrdiff_t known = 0;
    for (const Choice& choice : groups.choices) {
      if (!replay(choice, groups.trained[static_cast<std::size_t>(known)], rung.steps)) break;
      ++known;
    }
    groups.choices.erase(groups.choices.begin(), groups.choices.begin() + known);
    groups.trained.erase(groups.trained.begin(), groups.trained.begin() + known);
    if (groups.choices.empty()) return;
    divide(groups);
    expect(groups.work());
    run_tasks(
        groups.works, [&](std::size_t group) { return train_group(groups, group); },
        [&](std::size_t group, std::span<const double> scores, double seconds) {
          add_group(groups, group, scores, seconds);
        });
  }

  // The trainings of a rung that are not made yet: on small data several rungs have the same
  // length.
  Groups untrained(const Choices& choices, const Rung& rung) const {
    Groups groups;
    groups.steps = rung.steps;
    for (std::uint32_t fold = rung.first_fold; fold < rung.end_fold; ++fold) {
      for (const Choice& choice : choices) {
        if (trained_.contains({rung.steps, fold, choice})) continue;
        groups.choices.push_back(choice);
        const SizePlan& plan = candidates_[choice.number].sampled.plan;
        groups.trained.push_back({&plan, trainer_.losses(plan, length_)[choice.loss], fold});
      }
    }
    return groups;
  }

  void divide(Groups& groups) const {
    groups.ends = trainer_.groups(groups.trained, tasks_.num_ranks());
    for (std::size_t group = 0; group < groups.ends.size(); ++group) {
      double columns = 0;
      for (const PlanAndLoss& one : groups.trainings_of(group)) columns += columns_of(*one.plan);
      const auto count = static_cast<double>(groups.trainings_of(group).size());
      groups.works.push_back(trainer_.work(columns, count, groups.steps));
    }
  }

  std::vector<double> train_group(const Groups& groups, std::size_t group) {
    return trainer_.scores(groups.trainings_of(group), groups.steps, length_,
                           [&](double part) { report(part * groups.works[group]); });
  }

  void add_group(const Groups& groups, std::size_t group, std::span<const double> scores,
                 double seconds) {
    const auto trained = groups.trainings_of(group);
    const auto choices = std::span(groups.choices).subspan(groups.begin_of(group), trained.size());
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      trials.push_back(trial_of(choices[i], trained[i], groups.steps));
      trials.back().iteration += static_cast<std::uint32_t>(i);
      trials.back().fitness = scores[i];
      trials.back().seconds = seconds / static_cast<double>(scores.size());
    }
    done_ += groups.works[group];
    add(trials, choices);
  }

  // Does tasks, of such costs, on all ranks; `done` is told of each in order, with the seconds that
  // it took.
  void run_tasks(std::vector<double> costs,
                 const std::function<std::vector<double>(std::size_t)>& work,
                 const std::function<void(std::size_t, std::span<const double>, double)>& done) {
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
    batch.done = [&](std::size_t task, const std::vector<double>& result) {
      done(task, std::span(result).first(result.size() - 1), result.back());
    };
    batch.stop = [this] {
      leave_if_asked(hooks_);
      return hooks_.stop && hooks_.stop();
    };
    if (!tasks_.run(batch)) throw Stopped();
  }

  // The next training of this search, without what it measured.
  Trial trial_of(const Choice& choice, const PlanAndLoss& trained, std::uint64_t steps) const {
    const Candidate& candidate = candidates_[choice.number];
    return {.iteration = static_cast<std::uint32_t>(result_.trials.size() + 1),
            .strategy = candidate.strategy,
            .candidate = choice.number,
            .sampled = candidate.sampled,
            .predicted = std::nullopt,
            .steps = steps,
            .fold = trained.fold,
            .loss = trained.loss};
  }

  // Takes the next training from those of earlier processes, if they made it. 0 steps: as many as
  // it found.
  bool replay(const Choice& choice, const PlanAndLoss& trained, std::uint64_t steps) {
    constexpr std::size_t kNumbers = 3;  // of each in known_
    const std::size_t next = result_.trials.size();
    if (next * kNumbers >= known_.size()) return false;
    const double* const known = known_.data() + next * kNumbers;
    if (steps == 0) steps = static_cast<std::uint64_t>(known[1]);
    Trial trial = trial_of(choice, trained, steps);
    if (tasks_.is_first_rank()) check_is(stored_[next], trial);
    trial.fitness = known[0];
    trial.seconds = known[2];
    done_ += work_of(trial.sampled.plan, steps);
    note(trial, choice);
    return true;
  }

  void check_is(const Trial& stored, const Trial& made) const {
    BET_CHECK(stored.candidate == made.candidate && stored.steps == made.steps &&
                  stored.fold == made.fold && stored.loss == made.loss &&
                  stored.sampled.plan == made.sampled.plan,
              "run.db: training ", stored.iteration, " is not the one that this search makes");
  }

  void add(std::span<const Trial> trials, std::span<const Choice> choices) {
    store_.add(trials);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (hooks_.log) hooks_.log(trial_text(trials[i]));
      note(trials[i], choices[i]);
    }
    report();
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
    const auto is_rule = [&](const Choice& choice) { return choice.number < num_rules_; };
    auto missing = static_cast<std::ptrdiff_t>(count) - std::ranges::count_if(choices, is_rule);
    for (const Choice& one : best_of(rung, candidates_.size())) {
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
    result_.loss = {trainer_.losses(plan, whole)[best.loss], !few_data_};
  }

  // Those that a search makes which is not cut short.
  void count_trainings() {
    left_ = {num_rules_ + options_.num_plans, most_middle_plans(options_, num_precisions()),
             num_last_trainings(options_, num_precisions(), num_losses_), kWholeTrainings};
    result_.num_planned = std::max<std::size_t>(1, result_.num_lengths) + left_.first +
                          left_.middle + left_.last + left_.whole;
  }

  double columns_of(const SizePlan& plan) const {
    return columns_side_by_side(plan, trainer_.backbone());
  }

  // Of a training of one plan.
  double work_of(const SizePlan& plan, std::uint64_t steps) const {
    return trainer_.work(columns_of(plan), 1, steps);
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

  // Expects the work of trainings that are about to begin, and what follows them.
  void expect(double next) {
    const double columns = typical_columns();
    const double in_group = std::max(1.0, std::floor(trainer_.most_columns() / columns));
    const auto later = [&](std::size_t count, std::uint64_t steps) {
      return static_cast<double>(count) / in_group *
             trainer_.work(columns * in_group, in_group, steps);
    };
    const BackboneKind& backbone = trainer_.backbone();
    const double length = result_.trials.empty()
                              ? work_of(candidates_.front().sampled.plan, trainer_.whole_length())
                              : 0;
    expected_ = done_ + length + next +
                later(left_.first, fewest_ranking_steps(backbone, length_)) +
                later(left_.middle, middle_steps(backbone, length_)) +
                later(left_.last, last_steps(backbone, length_)) + later(left_.whole, length_);
  }

  // `more`: work, in addition to what is noted.
  void report(double more = 0) {
    if (!hooks_.progress) return;
    double best = 0;
    for (const Trial& trial : result_.trials) best = std::max(best, trial.fitness);
    char detail[80];
    std::snprintf(detail, sizeof(detail), "%zu trainings, best validation score %.4f",
                  result_.trials.size(), best);
    hooks_.progress({"search", done_ + more, expected_, best > 0 ? detail : ""});
  }

  std::span<const PlanSampler> samplers_;
  RungTrainer& trainer_;
  RunStore& store_;
  SharedTasks& tasks_;
  const SearchOptions& options_;
  const TrainingHooks& hooks_;
  const std::function<void()>& has_plan_;
  std::vector<Trial> stored_;  // by earlier processes: rank 0
  SharedTasks::Result known_;  // of each of them score, steps, seconds: all ranks
  std::vector<Candidate> candidates_;
  std::size_t num_rules_ = 0;   // the first candidates
  std::size_t num_losses_ = 0;  // that a plan may have
  std::uint64_t length_ = 0;    // best for this data
  bool few_data_ = false;       // it depends on the plan
  struct {                      // by rung
    std::size_t first = 0, middle = 0, last = 0, whole = 0;
  } left_;               // trainings after those that are being made
  double done_ = 0;      // the noted trials took
  double expected_ = 0;  // of all
  std::set<std::tuple<std::uint64_t, std::uint32_t, Choice>> trained_;  // steps, fold
  // By steps of a rung: scores by fold.
  std::map<std::uint64_t, std::map<Choice, std::vector<double>>> scores_;
  std::vector<Choice> choices_;  // by trial
  SearchResult result_;
};

}  // namespace

std::uint64_t expected_steps(const SearchOptions& options, const BackboneKind& backbone,
                             std::size_t num_rules, std::size_t num_precisions,
                             std::size_t num_losses, std::uint64_t length) {
  return length + (num_rules + options.num_plans) * fewest_ranking_steps(backbone, length) +
         most_middle_plans(options, num_precisions) * middle_steps(backbone, length) +
         num_last_trainings(options, num_precisions, num_losses) * last_steps(backbone, length) +
         kWholeTrainings * length;
}

SearchResult search_plans(std::span<const PlanSampler> samplers, RungTrainer& trainer,
                          RunStore& store, SharedTasks& tasks, const SearchOptions& options,
                          const TrainingHooks& hooks, const std::function<void()>& has_plan) {
  BET_CHECK(options.finalists > 0, "a search needs at least one finalist");
  return PlanSearch(samplers, trainer, store, tasks, options, hooks, has_plan).run();
}

}  // namespace bet
