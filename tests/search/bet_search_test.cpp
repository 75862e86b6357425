#include "search/bet_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/precision_text.h"
#include "data/load.h"
#include "plan/rule_plans.h"
#include "support/execute_sql.h"
#include "support/expect_error.h"
#include "support/in_world.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"
#include "train/loss_choice.h"
#include "train/side_by_side.h"
#include "train/temperature.h"

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;

// Everything that a search needs, on toy data.
struct Toy {
  Split split;
  Graph graph = make_graph(split, TrainingPart::kTrain);
  TableShape shape{split.num_users(), split.num_items(), 16, 0};
  Frequencies frequencies = train_frequencies(split);
  PlanSampler sampler{shape, shape.num_rows() * 3, frequencies.users, frequencies.items};
  ModelOptions model;
  Schedule schedule = named_schedule("fast");
  SearchOptions options = {.num_plans = 12, .finalists = 3, .seed = 3};

  explicit Toy(Split data = test::toy_split()) : split(std::move(data)) {
    schedule.max_steps = 160;
  }

  SearchResult search(const std::filesystem::path& path, const TrainingHooks& hooks = {},
                      TrainingPart part = TrainingPart::kTrainAndValidation,
                      World* world = nullptr) const {
    RunStore store(path, "toy");
    RungTrainer trainer({split, graph, model, schedule, hooks}, part, true);
    SharedTasks tasks(world);
    return search_plans(std::span(&sampler, 1), trainer, store, tasks, options, hooks);
  }
};

void expect_same(const SearchResult& a, const SearchResult& b) {
  ASSERT_EQ(a.trials.size(), b.trials.size());
  EXPECT_EQ(a.chosen, b.chosen);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.loss.loss, b.loss.loss);
  EXPECT_EQ(a.loss.whole_length, b.loss.whole_length);
  for (std::size_t i = 0; i < a.trials.size(); ++i) {
    EXPECT_EQ(a.trials[i].candidate, b.trials[i].candidate) << i;
    EXPECT_EQ(a.trials[i].strategy, b.trials[i].strategy) << i;
    EXPECT_EQ(a.trials[i].steps, b.trials[i].steps) << i;
    EXPECT_EQ(a.trials[i].fold, b.trials[i].fold) << i;
    EXPECT_EQ(a.trials[i].loss, b.trials[i].loss) << i;
    EXPECT_EQ(a.trials[i].fitness, b.trials[i].fitness) << i;
    EXPECT_TRUE(a.trials[i].sampled.plan == b.trials[i].sampled.plan) << i;
    EXPECT_TRUE(a.trials[i].sampled.origin == b.trials[i].sampled.origin) << i;
  }
}

// That of the best of the trainings that looked for it.
std::uint64_t length_of(const SearchResult& result) {
  const auto tried = std::span(result.trials).first(result.num_lengths);
  return std::ranges::max_element(tried, {}, &Trial::fitness)->steps;
}

// Trainings of the same plan, loss and length.
std::ptrdiff_t num_folds(const SearchResult& result, const Trial& like) {
  return std::ranges::count_if(std::span(result.trials).subspan(result.num_lengths),
                               [&](const Trial& trial) {
                                 return trial.candidate == like.candidate &&
                                        trial.loss == like.loss && trial.steps == like.steps;
                               });
}

// Of these.
double mean_score(const SearchResult& result, const Trial& like) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = result.num_lengths; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    const bool is_like = trial.candidate == like.candidate && trial.loss == like.loss;
    if (!is_like || trial.steps != like.steps) continue;
    sum += trial.fitness;
    ++count;
  }
  return count > 0 ? sum / count : -1;
}

TEST(Search, TriesEveryRuleKeepsTheBudgetAndChoosesTheBestOfTheLastRung) {
  const Toy toy;
  const TempFolder folder;
  const SearchResult result = toy.search(folder / "run.db");
  EXPECT_FALSE(result.stopped);
  const std::vector<SampledPlan> rules = rule_plans(toy.sampler);
  std::uint64_t longest = 0;
  std::uint64_t of_finalists = 0;
  std::set<std::uint64_t> tried;
  for (std::size_t i = result.num_lengths; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    EXPECT_EQ(trial.iteration, i + 1);
    EXPECT_LE(trial.sampled.plan.num_params(), toy.sampler.limit().total);
    EXPECT_GT(trial.fitness, 0);
    tried.insert(trial.candidate);
    longest = std::max(longest, trial.steps);
    if (trial.fold == 0) of_finalists = std::max(of_finalists, trial.steps);
    if (trial.strategy == Strategy::kRule) {
      EXPECT_TRUE(trial.sampled.plan == rules.at(trial.candidate).plan);
    }
  }
  EXPECT_GE(tried.size(), rules.size() + 8) << "all rules, and nearly all other plans";
  for (std::uint64_t rule = 0; rule < rules.size(); ++rule) EXPECT_TRUE(tried.contains(rule));

  // The chosen plan was in the last rung, and nothing that was is better.
  const Trial& chosen = result.trials.at(result.chosen.value());
  EXPECT_EQ(chosen.steps, longest);
  EXPECT_EQ(chosen.fold, kFolds - 1);
  bool has_rule = false;
  std::set<double> temperatures;  // of the plan that was best before
  const std::uint64_t first_finalist =
      std::ranges::find(std::span(result.trials).subspan(result.num_lengths), of_finalists,
                        &Trial::steps)
          ->candidate;
  for (std::size_t i = result.num_lengths; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    if (trial.steps == of_finalists) {
      has_rule = has_rule || trial.strategy == Strategy::kRule;
      if (trial.candidate == first_finalist) temperatures.insert(trial.loss.temperature);
    }
    if (trial.fold == kFolds - 1 && num_folds(result, trial) == num_folds(result, chosen)) {
      EXPECT_LE(mean_score(result, trial), mean_score(result, chosen));
    }
  }
  EXPECT_GE(temperatures.size(), 5U) << "it is trained by every loss";
  EXPECT_EQ(result.loss.loss.kind, chosen.loss.kind);
  EXPECT_EQ(result.num_lengths, 1U);
  EXPECT_TRUE(result.loss.whole_length);
  EXPECT_TRUE(has_rule) << "the best rule is a finalist";
}

// A shorter training tells it only about.
TEST(Search, TakesTheTemperatureThatIsBestAtTheWholeLength) {
  Toy toy;
  toy.options.seed = 1;
  const TempFolder folder;
  const SearchResult result = toy.search(folder / "run.db");
  const Trial& chosen = result.trials.at(result.chosen.value());
  ASSERT_TRUE(has_temperature(chosen.loss));
  std::vector<LossTrial> tried;
  for (const Trial& trial : result.trials) {
    const bool is_like = trial.candidate == chosen.candidate && are_alike(trial.loss, chosen.loss);
    if (trial.fold == kFolds - 1 && is_like) tried.push_back({trial.loss, trial.fitness});
  }
  EXPECT_GE(tried.size(), 3U);
  EXPECT_TRUE(tried.size() == 3U + kMoreTemperatures || !next_temperature(tried));
  const double best = best_temperature(tried);
  EXPECT_NE(best, chosen.loss.temperature);
  EXPECT_NEAR(for_length(result.loss.loss, toy.schedule.max_steps, length_of(result)).temperature,
              best, 1e-9 * best);
}

// Equal sizes overfit there; what is best for them need not be for the best plan. Here that is
// trained for the whole length, so that data are not few.
TEST(Search, WhereEqualSizesOverfitTakesTheLengthOfTheBestOfThreePlans) {
  Toy toy(make_split(load_dataset("demo"), SplitKind::kRandom, 1));
  toy.schedule.max_steps = 200;
  toy.options.num_plans = 0;
  const TempFolder folder;
  const SearchResult result = toy.search(folder / "run.db");
  ASSERT_EQ(result.num_lengths, 3U);
  EXPECT_LT(result.trials[0].steps, toy.schedule.max_steps);
  EXPECT_EQ(result.trials[1].sampled.origin.user_share, 0);
  EXPECT_EQ(result.trials[2].sampled.origin.user_share, 1);
  EXPECT_EQ(result.trials[3].steps,
            fewest_ranking_steps(find_backbone("lightgcn"), length_of(result)));
  EXPECT_EQ(length_of(result), toy.schedule.max_steps);
  EXPECT_TRUE(result.loss.whole_length);
  expect_same(toy.search(folder / "run.db"), result);
}

// Half of a training says little about which of two losses gains more from the other half, and the
// fold that chose the finalists flatters them.
TEST(Search, ComparesItsBestPairsAndARuleByWholeTrainingsOnOtherFolds) {
  for (const std::uint32_t users : {120, 300}) {
    SCOPED_TRACE(users);
    const Toy toy(test::toy_split(users, 120, users * 20));
    const TempFolder folder;
    const SearchResult result = toy.search(folder / "run.db");
    const std::uint64_t length = length_of(result);
    ASSERT_GT(length / 2, 50U) << "the rungs differ";
    std::vector<Trial> second;
    std::vector<Trial> third;
    for (const Trial& trial : result.trials) {
      if (trial.fold == 0) continue;
      EXPECT_EQ(trial.steps, length);
      (trial.fold == 1 ? second : third).push_back(trial);
    }
    EXPECT_GE(second.size(), 3U);
    EXPECT_LE(second.size(), 4U);
    EXPECT_NE(std::ranges::find(second, Strategy::kRule, &Trial::strategy), second.end());
    ASSERT_GE(third.size(), 2U);
    std::ranges::sort(second, std::greater<>(), &Trial::fitness);
    // What follows the two are other temperatures of the better one.
    const std::uint64_t chosen = result.trials.at(result.chosen.value()).candidate;
    for (const Trial& trial : std::span(third).subspan(2)) EXPECT_EQ(trial.candidate, chosen);
    for (const Trial& trial : std::span(third).first(2)) {
      const bool is_one_of_the_best =
          std::ranges::any_of(std::span(second).first(2), [&](const Trial& other) {
            return other.candidate == trial.candidate && other.loss == trial.loss;
          });
      EXPECT_TRUE(is_one_of_the_best) << trial.candidate;
    }
  }
}

// While a rank looks for the length, the other one trains plans ahead: in vain where data are few.
TEST(Search, OfTwoRanksKeepsBothBusyAndMakesTheTrainingsOfOne) {
  for (const auto& [few_data, expects_few_data] :
       {std::pair{false, false}, {true, true}, {true, false}, {false, true}}) {
    SCOPED_TRACE(few_data);
    SCOPED_TRACE(expects_few_data);
    Toy toy;
    if (few_data) {
      toy.schedule.max_steps = 800;
      toy.sampler = PlanSampler(toy.shape, toy.shape.num_rows() * 14, toy.frequencies.users,
                                toy.frequencies.items);
    }
    toy.options = {.num_plans = 8, .finalists = 1, .seed = 3, .expects_few_data = expects_few_data};
    const TempFolder folder;
    const SearchResult alone = toy.search(folder / "alone.db");
    ASSERT_EQ(alone.num_lengths, few_data ? 3U : 1U);
    ASSERT_EQ(length_of(alone) < toy.schedule.max_steps, few_data);
    EXPECT_EQ(alone.loss.whole_length, !few_data) << "else the retraining looks for it again";
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::uint32_t> busy;
    bool waited_in_vain = false;
    std::size_t logged = 0;
    std::vector<SearchResult> results(2);
    test::in_world(2, [&](World& world) {
      TrainingHooks hooks;
      if (world.rank() == 0) {
        hooks.log = [&](const std::string& text) {
          logged += text.starts_with("training ") ? 1 : 0;
        };
      }
      hooks.progress = [&](const Progress& /*progress*/) {
        std::unique_lock lock(mutex);
        busy.insert(world.rank());
        changed.notify_all();
        const auto are_busy = [&] { return busy.size() == 2 || waited_in_vain; };
        if (!changed.wait_for(lock, std::chrono::seconds(5), are_busy)) waited_in_vain = true;
      };
      const std::filesystem::path path = folder / std::to_string(world.rank());
      results[world.rank()] = toy.search(path, hooks, TrainingPart::kTrainAndValidation, &world);
    });
    EXPECT_EQ(busy.size(), 2U);
    EXPECT_FALSE(waited_in_vain) << "one rank has nothing to do";
    expect_same(results[0], results[1]);
    EXPECT_EQ(logged, results[0].trials.size());
    EXPECT_EQ(results[0].num_lengths, alone.num_lengths);
    EXPECT_EQ(results[0].chosen, alone.chosen);
    ASSERT_EQ(results[0].trials.size(), alone.trials.size());
    for (std::size_t i = 0; i < alone.trials.size(); ++i) {
      EXPECT_EQ(results[0].trials[i].steps, alone.trials[i].steps) << i;
      EXPECT_TRUE(results[0].trials[i].sampled.plan == alone.trials[i].sampled.plan) << i;
      EXPECT_NEAR(results[0].trials[i].fitness, alone.trials[i].fitness, 1e-3) << i;
    }
    expect_same(toy.search(folder / "0"), results[0]);  // resumed by one: nothing is trained
  }
}

TEST(Search, OfTwoRanksThatIsStoppedIsContinuedToTheSameEnd) {
  Toy toy;
  toy.options = {.num_plans = 8, .finalists = 1, .seed = 3};
  const TempFolder folder;
  const auto search = [&](const std::string& name, int steps_of_first_rank) {
    SearchResult result;
    test::in_world(2, [&](World& world) {
      int steps = 0;
      TrainingHooks hooks;
      if (world.rank() == 0) hooks.stop = [&] { return ++steps > steps_of_first_rank; };
      const std::filesystem::path path = folder / (name + std::to_string(world.rank()));
      SearchResult found = toy.search(path, hooks, TrainingPart::kTrainAndValidation, &world);
      if (world.rank() == 0) result = std::move(found);
    });
    return result;
  };
  constexpr int kNever = 1'000'000;
  const SearchResult whole = search("whole", kNever);
  EXPECT_FALSE(whole.stopped);
  for (const int steps : {120, 200}) {
    SCOPED_TRACE(steps);
    const std::string name = "stopped" + std::to_string(steps);
    EXPECT_TRUE(search(name, steps).stopped);
    expect_same(search(name, kNever), whole);
  }
}

TEST(Search, ResumesAfterADeathToTheSameEnd) {
  const Toy toy;
  const TempFolder folder;
  const SearchResult whole = toy.search(folder / "whole.db");
  for (const int death : {1, 100, 150, 200}) {
    const std::filesystem::path path = folder / (std::to_string(death) + ".db");
    int steps = 0;
    TrainingHooks dies;
    dies.stop = [&]() -> bool {
      if (++steps == death) throw Error("killed");
      return false;
    };
    EXPECT_THROW(toy.search(path, dies), Error) << death;
    expect_same(toy.search(path), whole);
    expect_same(toy.search(path), whole);  // complete: nothing is trained
  }
}

// Several ranks store groups as they end. Scores depend, in their last bits, on who is trained
// beside whom: of what is missing the whole group is trained again, and nothing else.
TEST(Search, TrainsTheGroupsThatAreMissing) {
  Toy toy;
  toy.shape.max_dim = 64;
  toy.sampler = PlanSampler(toy.shape, toy.shape.num_rows() * 12, toy.frequencies.users,
                            toy.frequencies.items);
  const TempFolder folder;
  const std::filesystem::path path = folder / "run.db";
  const SearchResult whole = toy.search(path);
  // The first rung begins with groups of rules; something of the first one is missing.
  std::vector<PlanAndLoss> rules;
  const std::size_t first = whole.num_lengths;
  const std::size_t num_rules = rule_plans(toy.sampler).size();
  for (std::size_t i = first; i < first + num_rules; ++i) {
    rules.push_back({&whole.trials[i].sampled.plan, whole.trials[i].loss});
  }
  const RungTrainer trainer({toy.split, toy.graph, toy.model, toy.schedule, {}},
                            TrainingPart::kTrainAndValidation, true);
  const std::vector<std::size_t> ends = trainer.groups(rules, 1);
  ASSERT_GE(ends.size(), 2U);
  test::execute_sql(path, str_cat("DELETE FROM trial WHERE iteration = ", first + 3,
                                  " OR iteration > ", first + num_rules));
  std::vector<std::string> made;
  TrainingHooks hooks;
  hooks.log = [&](const std::string& text) {
    if (text.starts_with("training ")) made.push_back(text.substr(9, text.find("  ") - 9));
  };
  expect_same(toy.search(path, hooks), whole);
  std::vector<std::string> expected;
  for (std::size_t i = 1; i <= whole.trials.size(); ++i) {
    const bool in_first_group = i > first && i <= first + ends[0];
    if (in_first_group || i > first + num_rules) expected.push_back(std::to_string(i));
  }
  EXPECT_EQ(made, expected);
}

TEST(Search, AStopEndsItWithTheBestSoFarAndItCanBeContinued) {
  Toy toy;
  const TempFolder folder;
  const SearchResult whole = toy.search(folder / "whole.db");
  int steps = 0;
  TrainingHooks hooks;
  hooks.stop = [&] { return ++steps > 200; };
  const SearchResult stopped = toy.search(folder / "run.db", hooks);
  EXPECT_TRUE(stopped.stopped);
  ASSERT_LT(stopped.trials.size(), whole.trials.size());
  EXPECT_GE(stopped.num_planned, whole.trials.size());
  const Trial& chosen = stopped.trials.at(stopped.chosen.value());
  for (std::size_t i = stopped.num_lengths; i < stopped.trials.size(); ++i) {
    if (stopped.trials[i].steps == chosen.steps) {
      EXPECT_LE(stopped.trials[i].fitness, chosen.fitness);
    }
  }
  toy.options.only_stored = true;
  expect_same(toy.search(folder / "run.db"), stopped);
  toy.options.only_stored = false;
  expect_same(toy.search(folder / "run.db"), whole);
}

// A comparison on another fold that is not complete says nothing: those that came first are not
// better than the others. The one before it does.
TEST(Search, StoppedInALastComparisonItTakesTheBestBeforeIt) {
  Toy toy;
  // Plans so wide that none is trained beside another: the first is known before the second.
  toy.shape.max_dim = 256;
  toy.sampler = PlanSampler(toy.shape, toy.shape.num_rows() * 170, toy.frequencies.users,
                            toy.frequencies.items);
  toy.options = {.num_plans = 0, .finalists = 2, .seed = 3};
  for (const std::uint32_t fold : {1U, 2U}) {
    SCOPED_TRACE(fold);
    const TempFolder folder;
    bool compares = false;
    TrainingHooks hooks;
    hooks.log = [&](const std::string& text) {
      compares = compares || text.find("fold " + std::to_string(fold) + " ") != std::string::npos;
    };
    hooks.stop = [&] { return compares; };
    const SearchResult stopped = toy.search(folder / "run.db", hooks);
    EXPECT_TRUE(stopped.stopped);
    ASSERT_TRUE(compares);
    const Trial& chosen = stopped.trials.at(stopped.chosen.value());
    const auto in_rung = std::span(stopped.trials).subspan(stopped.num_lengths);
    std::uint64_t last = 0;
    for (const Trial& trial : in_rung) {
      if (trial.fold == fold - 1) last = std::max(last, trial.steps);
    }
    double best = 0;
    double of_chosen = 0;
    for (const Trial& trial : in_rung) {
      if (trial.fold != fold - 1 || trial.steps != last) continue;
      best = std::max(best, trial.fitness);
      if (trial.candidate == chosen.candidate && trial.loss == chosen.loss) {
        of_chosen = trial.fitness;
      }
    }
    EXPECT_GT(best, 0);
    EXPECT_EQ(of_chosen, best);
  }
}

TEST(Search, StoppedBeforeItsFirstPlanHasNothing) {
  Toy toy;
  const TempFolder folder;
  TrainingHooks hooks;
  hooks.stop = [] { return true; };
  const SearchResult stopped = toy.search(folder / "run.db", hooks);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_FALSE(stopped.chosen.has_value());
  TrainingHooks leaves;
  leaves.leave = [] { return true; };
  EXPECT_THROW(toy.search(folder / "run.db", leaves), Interrupted);
  toy.options.only_stored = true;
  EXPECT_FALSE(toy.search(folder / "run.db").chosen.has_value());
}

TEST(Search, RefusesTrainingsThatAreNotItsOwn) {
  Toy toy;
  const TempFolder folder;
  toy.search(folder / "run.db");
  toy.options.seed = 4;
  EXPECT_NE(error_of([&] { toy.search(folder / "run.db"); }).find("is not the one that"),
            std::string::npos);
}

// With --final train there is nothing but train to train on.
TEST(Search, OfAFinalTrainingOnTrainMeasuresOnAllOfValidation) {
  Toy toy;
  toy.options = {.num_plans = 0, .finalists = 1, .seed = 1};
  const TempFolder folder;
  const SearchResult result = toy.search(folder / "run.db", {}, TrainingPart::kTrain);
  const Trial& trial = result.trials.at(result.num_lengths);
  const LossOptions usual =
      usual_loss(trial.sampled.plan, find_backbone("lightgcn"), length_of(result));
  const ShortTraining by_hand = short_training(toy.schedule, usual, find_backbone("lightgcn"),
                                               length_of(result), trial.steps);
  ModelOptions model = toy.model;
  model.losses = {by_hand.loss};
  const TrainingResult trained = train_steps({toy.split, toy.graph, model, by_hand.schedule, {}},
                                             std::span(&trial.sampled.plan, 1))[0];
  const Ranking ranking = make_backbone(model, toy.graph)->ranking(trained.table);
  const double score =
      evaluate(ranking.vectors, ranking.models[0], toy.split, HeldOut::kValidation, toy.graph)
          .score();
  EXPECT_NEAR(trial.fitness, score, 1e-9) << "other plans beside it change the last bits only";
}

TEST(ShortTraining, IsHotterTheShorterItIs) {
  const Schedule schedule = named_schedule("fast");
  const BackboneKind& lightgcn = find_backbone("lightgcn");
  const LossOptions softmax = {LossKind::kSoftmax, 16};
  const ShortTraining whole = short_training(schedule, softmax, lightgcn, 400, 400);
  EXPECT_EQ(whole.loss, softmax);
  EXPECT_EQ(whole.schedule.learning_rate, schedule.learning_rate);
  const ShortTraining eighth = short_training(schedule, softmax, lightgcn, 400, 50);
  EXPECT_EQ(eighth.schedule.max_steps, 50U);
  EXPECT_NEAR(eighth.loss.temperature, 16 * std::sqrt(2) / 64, 1e-12);
  const LossOptions half = for_length(softmax, 400, 200);
  EXPECT_NEAR(half.temperature, 16 / std::sqrt(8), 1e-12);
  EXPECT_EQ(short_training(schedule, softmax, lightgcn, 400, 200).loss, half);
  EXPECT_EQ(eighth.schedule.learning_rate, schedule.learning_rate);
  // A higher rate makes up for fewer steps.
  const LossOptions fast = {LossKind::kSoftmax, 16, ScoreKind::kDot, 2};
  EXPECT_EQ(short_training(schedule, fast, lightgcn, 400, 400).loss, fast);
  EXPECT_NEAR(short_training(schedule, fast, lightgcn, 400, 200).loss.temperature, 8, 1e-12);
  EXPECT_NEAR(short_training(schedule, fast, lightgcn, 400, 100).loss.temperature, 4, 1e-12);
  EXPECT_NEAR(short_training(schedule, fast, lightgcn, 400, 25).loss.temperature,
              16 * std::sqrt(2) / 64, 1e-12);
  const ShortTraining bpr = short_training(schedule, {}, lightgcn, 400, 50);
  EXPECT_NEAR(bpr.schedule.learning_rate, 8 * schedule.learning_rate, 1e-12);
  EXPECT_EQ(short_training(schedule, {}, find_backbone("ncf"), 400, 50).schedule.learning_rate,
            schedule.learning_rate);
  const LossOptions cosine = {LossKind::kSoftmax, 0.14, ScoreKind::kCosine};
  const ShortTraining of_cosines = short_training(schedule, cosine, lightgcn, 400, 50);
  EXPECT_EQ(of_cosines.loss, cosine);
  EXPECT_EQ(of_cosines.schedule.learning_rate, schedule.learning_rate);
  const Schedule steady = named_schedule("paper");
  EXPECT_EQ(short_training(steady, {}, lightgcn, 400, 50).schedule.learning_rate,
            steady.learning_rate)
      << "its rate does not fall to zero";
}

TEST(RankingSteps, AreAPartOfTheLengthAndMoreWithDenseWeights) {
  const BackboneKind& lightgcn = find_backbone("lightgcn");
  EXPECT_EQ(fewest_ranking_steps(lightgcn, 1600), 100U);
  EXPECT_EQ(fewest_ranking_steps(lightgcn, 400), 50U);
  EXPECT_EQ(fewest_ranking_steps(lightgcn, 30), 30U);
  EXPECT_EQ(fewest_ranking_steps(find_backbone("ngcf"), 1600), 200U);
  EXPECT_EQ(fewest_ranking_steps(find_backbone("ngcf"), 400), 100U);
}

TEST(RungTrainer, PutsAsManyPlansSideBySideAsMakeSense) {
  const Toy toy;
  const TableShape wide{toy.split.num_users(), toy.split.num_items(), 128, 0};
  const SizePlan full = full_plan(wide);
  const SizePlan narrow = equal_plan(wide, wide.num_rows() * 20);  // 32 columns of a table
  using Plans = std::vector<PlanAndLoss>;
  using Ends = std::vector<std::size_t>;
  const auto groups = [](const Plans& plans, std::uint32_t ranks) {
    return RungTrainer::groups(plans, find_backbone("lightgcn"), 256, at::kCPU, ranks);
  };
  EXPECT_EQ(groups(Plans(3, {&full, {}}), 1), (Ends{2, 3}));
  EXPECT_EQ(groups(Plans(20, {&narrow, {}}), 1), (Ends{8, 16, 20}));
  EXPECT_EQ(groups(Plans(1, {&full, {}}), 1), Ends{1});
  EXPECT_EQ(groups(Plans(), 1), Ends());
  EXPECT_EQ(
      RungTrainer::groups(Plans(3, {&narrow, {}}), find_backbone("lightgcn"), 67, at::kCPU, 1),
      (Ends{2, 3}));
  // Two tables a side.
  EXPECT_EQ(RungTrainer::groups(Plans(8, {&narrow, {}}), find_backbone("ncf"), 256, at::kCPU, 1),
            (Ends{5, 8}));
  // One plan alone may be wider than a group.
  EXPECT_EQ(RungTrainer::groups(Plans(2, {&full, {}}), find_backbone("lightgcn"), 64, at::kCPU, 1),
            (Ends{1, 2}));
  const LossOptions softmax = {LossKind::kSoftmax, 2};
  const LossOptions hotter = {LossKind::kSoftmax, 1};
  const LossOptions cosine = {LossKind::kSoftmax, 0.1, ScoreKind::kCosine};
  EXPECT_EQ(groups(Plans{{&narrow, softmax}, {&narrow, hotter}}, 1), Ends{2});
  EXPECT_EQ(groups(Plans{{&narrow, softmax}, {&narrow, cosine}}, 1), (Ends{1, 2}));
  EXPECT_EQ(groups(Plans{{&narrow, {}}, {&narrow, hotter}}, 1), (Ends{1, 2}));
  // Folds have other data.
  EXPECT_EQ(groups(Plans{{&narrow, {}}, {&narrow, {}, 1}}, 1), (Ends{1, 2}));
  // Of several ranks each has as much to do.
  EXPECT_EQ(groups(Plans{{&narrow, softmax}, {&narrow, hotter}, {&narrow, {}}}, 2), (Ends{2, 3}));
  EXPECT_EQ(groups(Plans(10, {&narrow, {}}), 2), (Ends{5, 10}));
  EXPECT_EQ(groups(Plans(10, {&narrow, {}}), 4), (Ends{3, 6, 9, 10}));
  EXPECT_EQ(groups(Plans(30, {&narrow, {}}), 2), (Ends{5, 10, 15, 20, 25, 30}));
  EXPECT_EQ(groups(Plans(2, {&narrow, {}}), 4), (Ends{1, 2}));
}

TEST(SideBySide, KeepsTheTableOfACpuInTheCacheAndUsesTheBandwidthOfAGpu) {
  EXPECT_EQ(most_columns_side_by_side(1'000, at::kCPU), 256U);
  EXPECT_EQ(most_columns_side_by_side(70'839, at::kCPU), 70U);
  EXPECT_EQ(most_columns_side_by_side(50'000'000, at::kCPU), 1U);
  EXPECT_EQ(most_columns_side_by_side(70'839, at::kCUDA), 256U);
  EXPECT_EQ(most_columns_side_by_side(1'000'000, at::kCUDA), 33U);
}

// Under a limit of bytes the precision belongs to the plan: rules in each are trained beyond the
// first rung, and finalists have different ones. A search that is resumed comes to the same end.
TEST(Search, ComparesPrecisionsUnderALimitOfBytes) {
  Toy toy;
  std::vector<TablePrecision> precisions;
  for (const Precision users : {Precision::kInt2, Precision::kInt1}) {
    for (const Precision items : {Precision::kInt2, Precision::kInt1}) {
      precisions.emplace_back(users, items);
    }
  }
  const std::uint64_t bytes = toy.shape.directory_bytes() + 3 * toy.shape.num_rows();
  toy.sampler = PlanSampler(toy.shape, PlanLimit{true, bytes, precisions}, toy.frequencies.users,
                            toy.frequencies.items);
  const TempFolder folder;
  int asked = 0;
  TrainingHooks hooks;
  hooks.stop = [&] {
    ++asked;
    return false;
  };
  const SearchResult whole = toy.search(folder / "whole.db", hooks);
  EXPECT_FALSE(whole.stopped);
  EXPECT_LE(whole.trials.size(), whole.num_planned);
  std::map<std::uint64_t, std::set<std::string>> by_steps;
  for (std::size_t i = whole.num_lengths; i < whole.trials.size(); ++i) {
    const Trial& trial = whole.trials[i];
    EXPECT_LE(trial.sampled.plan.stored_bytes(), bytes);
    EXPECT_EQ(trial.sampled.plan.precision(), trial.sampled.origin.precision);
    by_steps[trial.steps].insert(precision_text(trial.sampled.plan.precision()));
  }
  for (const auto& [steps, tried] : by_steps) {
    EXPECT_GE(tried.size(), 2U) << steps << " steps: more than one precision in every rung";
  }
  int left = asked / 2;
  hooks.stop = [&] { return --left < 0; };
  const SearchResult part = toy.search(folder / "part.db", hooks);
  ASSERT_TRUE(part.stopped);
  ASSERT_LT(part.trials.size(), whole.trials.size());
  expect_same(toy.search(folder / "part.db"), whole);
}

TEST(BetSearch, ProgressIsTheSecondsOfItsTrainings) {
  const TempFolder folder;
  Toy toy;
  toy.shape.max_dim = 256;
  toy.sampler = PlanSampler{toy.shape, toy.shape.num_rows() * 20, toy.frequencies.users,
                            toy.frequencies.items};
  std::vector<Progress> told;
  TrainingHooks hooks;
  hooks.progress = [&](const Progress& progress) { told.push_back(progress); };
  const SearchResult result = toy.search(folder / "run.db", hooks);
  double seconds = 0;
  for (const Trial& trial : result.trials) seconds += trial.seconds;
  EXPECT_NEAR(told.back().done, seconds, 1e-9 * seconds);
  EXPECT_NEAR(told.back().total, seconds, 0.1 * seconds) << "little is left";
  for (const Progress& progress : told) {
    EXPECT_LE(progress.done, progress.total);
    if (progress.done < 0.3 * seconds) continue;  // not much is known yet
    EXPECT_GT(progress.total, 0.5 * seconds);
    EXPECT_LT(progress.total, 2 * seconds);
  }
}

}  // namespace
}  // namespace bet
