#include "train/loss_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "support/mean_over_folds.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"
#include "train/evaluator.h"
#include "train/retraining.h"
#include "train/temperature.h"

namespace bet {
namespace {

using test::TempFolder;

constexpr std::uint64_t kSteps = 40;

// A plan on toy data, and the choice of its loss.
struct ChoiceCase {
  Split split = test::toy_split(300, 120, 6'000);
  Graph graph = make_graph(split, TrainingPart::kTrain);
  SizePlan plan = test::toy_plan(split, 8);
  ModelOptions model;
  Schedule schedule = named_schedule("fast", "lightgcn").of_length(kSteps);
  TrainingHooks hooks;
  std::vector<std::string> log;

  ChoiceCase() {
    schedule.softmax_pool = 64;
    hooks.log = [this](const std::string& line) { log.push_back(line); };
  }
  LossChoice choose() { return choose_loss({split, graph, model, schedule, hooks}, plan, kSteps); }
  RetrainingResult retrain(const TempFolder& folder, const LossSearch& loss) {
    return retrain_plans({split, graph, model, schedule, hooks}, TrainingPart::kTrainAndValidation,
                         std::span(&plan, 1), {folder.path(), "x"}, loss);
  }
};

TEST(UsualLoss, IsWarmerForWiderRowsAndLongerTrainings) {
  const Split split = test::toy_split();
  const BackboneKind& backbone = find_backbone("lightgcn");
  const auto temperature = [&](std::uint32_t width, std::uint64_t steps) {
    const TableShape shape{split.num_users(), split.num_items(), width, 1, 1};
    const LossOptions loss = usual_loss(full_plan(shape), backbone, steps);
    EXPECT_EQ(loss.kind, LossKind::kSoftmax);
    return loss.temperature;
  };
  EXPECT_DOUBLE_EQ(temperature(4, 400), 2 * backbone.fast.temperature);
  EXPECT_DOUBLE_EQ(temperature(16, 400), 2 * temperature(4, 400));
  EXPECT_DOUBLE_EQ(temperature(4, 1600), 8 * temperature(4, 400));
}

// 40 steps are too few to be halved, and enough for temperatures to differ.
TEST(LossChoice, OfASoftmaxTakesTheTemperatureBetweenThoseThatWereTried) {
  ChoiceCase all;
  const LossChoice choice = all.choose();
  ASSERT_EQ(choice.chosen.loss.kind, LossKind::kSoftmax);
  ASSERT_EQ(choice.chosen.loss.score, ScoreKind::kDot);
  EXPECT_EQ(choice.chosen.length, kSteps);
  EXPECT_EQ(choice.chosen.loss.temperature, best_temperature(choice.trials));
  const LossTrial best = *std::ranges::max_element(choice.trials, {}, &LossTrial::score);
  EXPECT_NE(choice.chosen.loss.temperature, best.loss.temperature);
}

TEST(LossChoice, TriesEachAsItIsAlone) {
  ChoiceCase all;
  const LossChoice choice = all.choose();
  ASSERT_GE(choice.trials.size(), 5U);
  EXPECT_TRUE(choice.trials.size() == 5U + kMoreTemperatures || !next_temperature(choice.trials));
  EXPECT_EQ(choice.trials[0].loss, LossOptions()) << "BPR comes first";
  EXPECT_EQ(choice.trials[4].loss.score, ScoreKind::kCosine);
  for (const LossTrial& trial : choice.trials) EXPECT_GT(trial.score, 0);
  EXPECT_FALSE(choice.stopped);
  EXPECT_GE(all.log.size(), 5U);

  const auto score_alone = [&](const LossOptions& loss) {
    ModelOptions alone = all.model;
    alone.losses = {loss};
    const TrainingResult trained = train_steps(
        {all.split, all.graph, alone, all.schedule, TrainingHooks()}, std::span(&all.plan, 1))[0];
    const Ranking ranking = make_backbone(alone, all.graph)->ranking(trained.table);
    return evaluate(ranking.vectors, ranking.models[0], all.split, HeldOut::kValidation, all.graph)
        .score();
  };
  EXPECT_NEAR(score_alone(choice.trials[2].loss), choice.trials[2].score, 0.01);
  EXPECT_NEAR(score_alone(choice.trials[0].loss), choice.trials[0].score, 1e-4)
      << "BPR has as many steps as the others";
}

// A softmax that is a little better than BPR in the trials may not be so when both are trained as
// finally. Of these 300 users less than 5.8 % is noise, on all folds less than 3.3 %.
TEST(LossChoice, NearlyEqualLossesAreComparedAsTheyAreTrainedFinally) {
  std::set<LossKind> chosen;
  for (const auto& [width, seed] : {std::pair{4U, 2U}, {4U, 4U}}) {
    ChoiceCase all;
    all.model.seed = seed;
    all.plan = test::toy_plan(all.split, width);
    const TempFolder folder;
    const RetrainingResult result = all.retrain(folder, {.choose = true});
    const LossTrial best = *std::ranges::max_element(result.loss_trials, {}, &LossTrial::score);
    ASSERT_EQ(best.loss.kind, LossKind::kSoftmax);
    ASSERT_LT(best.score, (1 + 3 * 0.0577) * result.loss_trials[0].score);
    const auto line = std::ranges::find_if(all.log, [](const std::string& text) {
      return text.find("trained as finally") != std::string::npos;
    });
    ASSERT_NE(line, all.log.end());
    double softmax = 0;
    double bpr = 0;
    const std::string scores = line->substr(line->find("scores"));
    ASSERT_EQ(std::sscanf(scores.c_str(), "scores %lf and %lf", &softmax, &bpr), 2) << *line;
    EXPECT_EQ(result.loss.kind, softmax > 1.0334 * bpr ? LossKind::kSoftmax : LossKind::kBpr);
    chosen.insert(result.loss.kind);

    ModelOptions model = all.model;
    model.losses = {result.loss};
    const double mean = test::mean_over_folds(
        {all.split, all.graph, model, all.schedule.of_length(result.final_length), {}}, all.plan);
    EXPECT_NEAR(mean, result.loss.kind == LossKind::kBpr ? bpr : softmax, 1e-4);
  }
  EXPECT_EQ(chosen.size(), 2U) << "both cases are to be tested";
}

TEST(LossChoice, IsRememberedAndADamagedMemoryIsNotUsed) {
  const TempFolder cache;
  for (const std::uint32_t width : {8, 32}) {  // a softmax, and BPR
    ChoiceCase all;
    all.plan = test::toy_plan(all.split, width);
    const auto retrain = [&] {
      const TempFolder folder;
      return all.retrain(folder, {.choose = true, .cache = cache.path(), .identity = "toy"});
    };
    const RetrainingResult first = retrain();
    EXPECT_GE(first.loss_trials.size(), 5U);
    const RetrainingResult again = retrain();
    EXPECT_TRUE(again.loss_trials.empty());
    EXPECT_EQ(again.loss, first.loss);
    EXPECT_TRUE(at::equal(again.table.values, first.table.values));
    const auto is_taken = [](const std::string& line) {
      return line.starts_with("loss taken from ");
    };
    EXPECT_EQ(std::ranges::count_if(all.log, is_taken), 1);

    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.path())) {
      if (entry.is_regular_file()) {
        cache.write(entry.path().lexically_relative(cache.path()).string(), "damaged");
      }
    }
    const RetrainingResult anew = retrain();
    EXPECT_EQ(anew.loss_trials.size(), first.loss_trials.size());
    EXPECT_EQ(anew.loss, first.loss);
  }
}

TEST(LossChoice, ThatIsStoppedIsTheUsualOneAndNotRemembered) {
  ChoiceCase all;
  int asked = 0;
  all.hooks.stop = [&] { return ++asked > 10; };
  const LossChoice choice = all.choose();
  EXPECT_TRUE(choice.stopped);
  EXPECT_EQ(choice.chosen.loss, usual_loss(all.plan, find_backbone("lightgcn"), kSteps));

  bool in_choice = false;
  all.hooks.progress = [&](const Progress& progress) { in_choice = progress.phase == "loss"; };
  all.hooks.stop = [&] { return in_choice; };
  const TempFolder folder;
  const TempFolder cache;
  const RetrainingResult result =
      all.retrain(folder, {.choose = true, .cache = cache.path(), .identity = "toy"});
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(std::filesystem::is_empty(cache.path()));
}

// Also where the final training is on the same data as the choice of the plan.
TEST(LossChoice, ARetrainingThatIsLeftInItEndsAsAWholeOne) {
  ChoiceCase all;
  const std::vector<SizePlan> plans = {all.plan, test::toy_plan(all.split, 5)};
  for (const TrainingPart part : {TrainingPart::kTrain, TrainingPart::kTrainAndValidation}) {
    const auto retrain = [&](const TempFolder& folder, const TrainingHooks& hooks, bool resume) {
      return retrain_plans({all.split, all.graph, all.model, all.schedule, hooks}, part, plans,
                           {folder.path(), "x", resume}, {.choose = true});
    };
    const TempFolder whole_folder;
    const RetrainingResult whole = retrain(whole_folder, {}, false);
    EXPECT_GE(whole.loss_trials.size(), 5U);

    const TempFolder folder;
    TrainingHooks leaves;
    bool in_choice = false;
    leaves.progress = [&](const Progress& progress) { in_choice = progress.phase == "loss"; };
    leaves.leave = [&] { return in_choice; };
    EXPECT_THROW(retrain(folder, leaves, false), Interrupted);
    const RetrainingResult resumed = retrain(folder, {}, true);
    EXPECT_EQ(resumed.loss, whole.loss);
    EXPECT_EQ(resumed.test.recall, whole.test.recall);
    EXPECT_TRUE(at::equal(resumed.table.values, whole.table.values));
  }
}

TEST(LossChoice, WhereBprIsChosenTheModelIsThatOfLossBpr) {
  ChoiceCase all;
  all.plan = test::toy_plan(all.split, 32);
  const TempFolder folder;
  const RetrainingResult chosen = all.retrain(folder, {.choose = true});
  ASSERT_EQ(chosen.loss.kind, LossKind::kBpr);
  all.schedule.softmax_pool = 0;
  const TempFolder other;
  const RetrainingResult by_bpr = all.retrain(other, {});
  EXPECT_EQ(chosen.loss, by_bpr.loss);
  EXPECT_EQ(chosen.final_steps, by_bpr.final_steps);
  EXPECT_TRUE(at::equal(chosen.table.values, by_bpr.table.values));
}

// Of wide rows of NCF the usual rate is lower, and the final training, on more data, does not raise
// it: dense weights do not bear that. A rate that was asked for is taken as it is.
TEST(Retraining, OfNcfHasTheRateOfTheWidthToTheEnd) {
  const Split split = test::toy_split(300, 120, 6'000);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  // Of the final training, as a multiple of a power of two times the schedule's.
  const auto final_rate = [&](const std::string& backbone, std::uint32_t width, double factor) {
    const TempFolder folder;
    ModelOptions model;
    model.backbone = backbone;
    model.dim = width;
    Schedule schedule = named_schedule("fast", backbone).of_length(2);
    schedule.learning_rate *= factor;
    const SizePlan plan =
        full_plan({split.num_users(), split.num_items(), width, 1, find_backbone(backbone).tables});
    const RetrainingResult result =
        retrain_plans({split, graph, model, schedule, {}}, TrainingPart::kTrainAndValidation,
                      std::span(&plan, 1), {folder.path(), "x"}, {});
    EXPECT_EQ(result.best_length, 2U) << "there are steps to make up for";
    const double octaves = std::log2(result.loss.rate);
    return std::exp2(octaves - std::ceil(octaves));
  };
  EXPECT_NEAR(final_rate("ncf", 64, 1), std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(final_rate("ncf", 64, 1.5), 1, 1e-9);
  EXPECT_NEAR(final_rate("ncf", 16, 1), 1, 1e-9);
}

// The training before it has the length of the final one, and its own place in the progress.
TEST(KnownLoss, OfTheWholeLengthIsTrainedAndThenFinally) {
  const TempFolder folder;
  const ChoiceCase all;
  std::vector<std::string> phases;
  TrainingHooks hooks;
  hooks.progress = [&](const Progress& progress) {
    if (phases.empty() || phases.back() != progress.phase) phases.push_back(progress.phase);
  };
  const std::vector<SizePlan> plans = {all.plan};
  retrain_plans({all.split, all.graph, all.model, all.schedule, hooks},
                TrainingPart::kTrainAndValidation, plans, {folder.path(), "toy"},
                {.choose = true, .known = KnownLoss{LossOptions(), true}});
  EXPECT_EQ(phases, (std::vector<std::string>{"train", "final training"}));
}

TEST(LossChoice, OfNcfHasNoCosines) {
  ChoiceCase all;
  all.model.backbone = "ncf";
  all.model.dim = 8;
  all.schedule = named_schedule("fast", "ncf").of_length(10);
  all.plan = test::toy_plan(all.split, 8, 2);
  const LossChoice choice =
      choose_loss({all.split, all.graph, all.model, all.schedule, all.hooks}, all.plan, 10);
  ASSERT_GE(choice.trials.size(), 4U);
  for (const LossTrial& trial : choice.trials) EXPECT_EQ(trial.loss.score, ScoreKind::kDot);
}

// Integers learn as much at twice the rate as in twice the steps; the temperature then grows with
// the steps.
TEST(LossChoice, OfAQuantisedPlanHasAnotherRateInsteadOfCosines) {
  ChoiceCase all;
  const BackboneKind& lightgcn = find_backbone("lightgcn");
  EXPECT_FALSE(has_fast_loss(all.plan, lightgcn));
  const SizePlan plan = all.plan.with_precision({Precision::kFloat32, Precision::kInt2});
  ASSERT_TRUE(has_fast_loss(plan, lightgcn));
  EXPECT_FALSE(has_fast_loss(plan, find_backbone("mf")));
  const std::vector<LossOptions> losses = losses_to_try(plan, lightgcn, 800);
  ASSERT_EQ(losses.size(), most_losses_to_try(lightgcn));
  EXPECT_EQ(losses[kTriedFast].rate, 2);
  EXPECT_EQ(losses[kTriedFast].temperature, losses[kTriedUsual].temperature);
  EXPECT_EQ(losses.back().temperature, 2 * losses[kTriedFast].temperature);
  EXPECT_FALSE(are_alike(losses[kTriedFast], losses[kTriedUsual]));
  const std::vector<LossOptions> shorter = losses_to_try(plan, lightgcn, 200);
  EXPECT_NEAR(shorter[kTriedFast].temperature, losses[kTriedFast].temperature / 4, 1e-12);
  EXPECT_NEAR(shorter[kTriedUsual].temperature, losses[kTriedUsual].temperature / 8, 1e-12);
  const LossChoice choice =
      choose_loss({all.split, all.graph, all.model, all.schedule, all.hooks}, plan, 10);
  EXPECT_GE(choice.trials.size(), losses.size());
  // Vectors are not trained by BPR.
  const LossChoice vectors = choose_loss({all.split, all.graph, all.model, all.schedule, all.hooks},
                                         plan.with_form(StoredForm::kVectors), 10);
  EXPECT_GE(vectors.trials.size(), losses.size() - 1);
  for (const LossTrial& trial : vectors.trials) EXPECT_EQ(trial.loss.kind, LossKind::kSoftmax);
  EXPECT_EQ(vectors.chosen.loss.kind, LossKind::kSoftmax);
}

TEST(LossState, IsKeptAndThatOfEarlierVersionsIsBpr) {
  for (const LossOptions& loss : {LossOptions(), LossOptions{LossKind::kSoftmax, 4.25},
                                  LossOptions{LossKind::kSoftmax, 0.14, ScoreKind::kCosine},
                                  LossOptions{LossKind::kSoftmax, 4.25, ScoreKind::kDot, 2}}) {
    Checkpoint checkpoint;
    save_loss(checkpoint, loss);
    EXPECT_EQ(load_loss(checkpoint), loss);
  }
  EXPECT_EQ(load_loss(Checkpoint()), LossOptions());
  Checkpoint odd;
  save_loss(odd, {});
  odd.numbers["loss kind"] = 7;
  EXPECT_THROW(load_loss(odd), Error);
}

}  // namespace
}  // namespace bet
