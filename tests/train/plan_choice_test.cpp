#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

#include "support/mean_over_folds.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"
#include "train/final_comparison.h"
#include "train/retraining.h"
#include "train/score_noise.h"

namespace bet {
namespace {

using test::TempFolder;

// Two plans, of which validation prefers another one than trainings at the final density.
struct TwoPlans {
  Split split = test::toy_split(300, 120, 6'000);
  Graph graph = make_graph(split, TrainingPart::kTrain);
  std::vector<SizePlan> plans;
  ModelOptions model;
  Schedule schedule;

  TwoPlans() {
    model.backbone = "mf";
    model.seed = 10;
    schedule = named_schedule("fast", "mf").of_length(32);
    for (const std::uint32_t width : {6, 7}) plans.push_back(test::toy_plan(split, width));
  }

  RetrainingResult retrain(PlanChoice choice, const TempFolder& folder,
                           const TrainingHooks& hooks = {}, bool resume = false) const {
    return retrain_plans({split, graph, model, schedule, hooks}, TrainingPart::kTrainAndValidation,
                         plans, {folder.path(), "x", resume}, {}, choice);
  }
};

TEST(PlanChoice, IsMadeOnValidationOrAtTheFinalDensity) {
  const TwoPlans two;
  const TempFolder folder;
  const RetrainingResult usual = two.retrain(PlanChoice::kOnValidation, folder);
  ASSERT_GT(usual.plan_validation[0].score(), usual.plan_validation[1].score());
  EXPECT_EQ(usual.chosen, 0U);
  EXPECT_TRUE(usual.final_scores.empty());

  // Both have all of their steps at the usual rate, as below.
  const TempFolder other;
  const RetrainingResult denser = two.retrain(PlanChoice::kAtFinalDensity, other);
  ASSERT_EQ(denser.final_scores.size(), 2U);
  ASSERT_LT(denser.final_scores[0], denser.final_scores[1]);
  for (std::size_t plan = 0; plan < 2; ++plan) {
    const double mean =
        test::mean_over_folds({two.split, two.graph, two.model, two.schedule, {}}, two.plans[plan]);
    EXPECT_NEAR(denser.final_scores[plan], mean, 1e-6);
  }
  EXPECT_EQ(denser.chosen, 1U);
  EXPECT_EQ(denser.final_steps, two.schedule.max_steps);
  EXPECT_EQ(denser.loss, LossOptions());
  EXPECT_EQ(denser.validation.score(), denser.plan_validation[1].score());
}

// Who has nothing to be measured by makes no score more certain.
TEST(ScoreNoise, CountsUsersWhoAreMeasured) {
  const Split dense = test::toy_split(300, 120, 6'000);
  EXPECT_NEAR(measured_users(dense), 300, 15);
  // Those with one or two items are not measured in every fold.
  EXPECT_LT(measured_users(dense, kFolds), 0.9 * measured_users(dense));
  EXPECT_GT(measured_users(dense, kFolds), 0.7 * measured_users(dense));
  const Split sparse = test::toy_split(3'000, 120, 6'000);  // two for each on average
  EXPECT_LT(measured_users(sparse), 2'000);
  EXPECT_LT(measured_users(sparse, kFolds), 0.5 * measured_users(sparse));
  EXPECT_EQ(folds_to_compare(dense), kFolds);
  EXPECT_GT(score_noise(measured_users(sparse)), score_noise(3'000));
}

// Of 233 users who are measured in each of three folds, less than 3.8 % is noise.
TEST(PlanChoice, IsTheLastPlanUnlessAnotherIsClearlyBetter) {
  TwoPlans two;
  for (const auto& [seed, least, most, chosen] :
       {std::tuple{4, 1.0, 1.03, 1U}, {11, 1.04, 1.5, 0U}}) {
    two.model.seed = static_cast<std::uint64_t>(seed);
    const TempFolder folder;
    const RetrainingResult result = two.retrain(PlanChoice::kAtFinalDensity, folder);
    const double lead = result.final_scores[0] / result.final_scores[1];
    ASSERT_GT(lead, least);
    ASSERT_LT(lead, most);
    EXPECT_EQ(result.chosen, chosen) << seed;
  }
}

TEST(PlanChoice, ThatIsLeftEndsAsAWholeOne) {
  const TwoPlans two;
  const TempFolder whole_folder;
  double all_done = 0;
  TrainingHooks counts;
  counts.progress = [&](const Progress& progress) {
    if (progress.phase != "train") return;
    EXPECT_GE(progress.done, all_done);
    EXPECT_LE(progress.done, progress.total);
    all_done = progress.done;
  };
  const RetrainingResult whole = two.retrain(PlanChoice::kAtFinalDensity, whole_folder, counts);

  const TempFolder folder;
  TrainingHooks leaves;
  bool nearly_done = false;
  leaves.progress = [&](const Progress& progress) { nearly_done = progress.done > 0.9 * all_done; };
  leaves.leave = [&] { return nearly_done; };
  EXPECT_THROW(two.retrain(PlanChoice::kAtFinalDensity, folder, leaves), Interrupted);
  const RetrainingResult resumed = two.retrain(PlanChoice::kAtFinalDensity, folder, {}, true);
  EXPECT_EQ(resumed.chosen, whole.chosen);
  EXPECT_EQ(resumed.final_scores, whole.final_scores);
  EXPECT_TRUE(at::equal(resumed.table.values, whole.table.values));
}

TEST(PlanChoice, ThatIsStoppedIsMadeOnValidation) {
  const TwoPlans two;
  const TempFolder whole_folder;
  const RetrainingResult whole = two.retrain(PlanChoice::kAtFinalDensity, whole_folder);
  ASSERT_EQ(whole.chosen, 1U);

  const TempFolder folder;
  bool compares = false;
  TrainingHooks stops;
  stops.progress = [&](const Progress& progress) {
    compares = compares || progress.done > static_cast<double>(whole.train_steps) + 1;
  };
  // As Ctrl-C is told: once.
  bool told = false;
  stops.stop = [&] { return compares && !std::exchange(told, true); };
  const RetrainingResult stopped = two.retrain(PlanChoice::kAtFinalDensity, folder, stops);
  EXPECT_TRUE(told);
  EXPECT_EQ(stopped.train_steps, whole.train_steps) << "plans were trained before";
  EXPECT_TRUE(stopped.final_scores.empty());
  EXPECT_EQ(stopped.chosen, 0U);
  EXPECT_TRUE(stopped.interrupted);
}

TEST(PlanChoice, FollowsNoTrainingsThatWereStopped) {
  const TwoPlans two;
  const TempFolder folder;
  int asked = 0;
  TrainingHooks stops;
  stops.stop = [&] { return ++asked == 20; };
  const RetrainingResult stopped = two.retrain(PlanChoice::kAtFinalDensity, folder, stops);
  EXPECT_LT(stopped.train_steps, two.schedule.max_steps);
  EXPECT_TRUE(stopped.final_scores.empty());
  EXPECT_TRUE(stopped.interrupted);
}

// The state of a retraining is what a run continues from until its report is written.
TEST(PlanChoice, KeepsItsStateForTheRunToRemove) {
  const TwoPlans two;
  const TempFolder folder;
  const RetrainingResult whole = two.retrain(PlanChoice::kAtFinalDensity, folder);
  EXPECT_TRUE(std::filesystem::exists(CheckpointFiles{folder.path()}.retraining()));
  const RetrainingResult again = two.retrain(PlanChoice::kAtFinalDensity, folder, {}, true);
  EXPECT_EQ(again.chosen, whole.chosen);
  EXPECT_EQ(again.final_scores, whole.final_scores);
  EXPECT_TRUE(at::equal(again.table.values, whole.table.values));
}

}  // namespace
}  // namespace bet
