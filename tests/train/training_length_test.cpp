#include "train/training_length.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

#include "base/error.h"

namespace bet {
namespace {

Schedule of_320_steps() {
  Schedule schedule;
  schedule.linear = true;
  schedule.measure_steps = 0;
  schedule.max_steps = 320;
  return schedule;
}

// A table that says which plan it is of, and by which length it was trained.
ModelParameters table_of(std::size_t plan, double length = 0) {
  ModelParameters table;
  table.values = torch::tensor({{static_cast<float>(plan), static_cast<float>(length)}});
  return table;
}

// Trainings whose validation by plan and length is made up, and which remember what was asked for.
struct MadeUpTrainings {
  MadeUpTrainings(std::vector<std::map<std::uint64_t, double>> of_lengths, std::vector<bool> fell)
      : scores(std::move(of_lengths)), overfit(std::move(fell)) {}

  std::vector<std::map<std::uint64_t, double>> scores;                    // by plan: of each length
  std::vector<bool> overfit;                                              // by plan
  std::vector<std::pair<std::uint64_t, std::vector<std::size_t>>> asked;  // lengths and plans
  std::uint64_t killed_at = 0;                                            // length; 0: none
  std::uint64_t stopped_at = 0;
  std::uint64_t resumed_at = 0;

  LengthTrials trials() {
    return {scores.size(),
            [this](std::span<const std::size_t> plans, const Schedule& schedule,
                   const TrainingHooks& hooks,
                   const Checkpoint* state) { return train(plans, schedule, hooks, state); },
            [](std::size_t plan) { return table_of(plan); }};
  }

  std::vector<TrainingResult> run(const TrainingHooks& hooks = {},
                                  const Checkpoint* state = nullptr) {
    return train_with_best_length(trials(), of_320_steps(), hooks, state);
  }

 private:
  std::vector<TrainingResult> train(std::span<const std::size_t> plans, const Schedule& schedule,
                                    const TrainingHooks& hooks, const Checkpoint* state) {
    const std::uint64_t length = schedule.max_steps;
    EXPECT_TRUE(schedule.evaluates_at(length));
    asked.emplace_back(length, std::vector<std::size_t>(plans.begin(), plans.end()));
    if (state != nullptr) resumed_at = length;
    if (hooks.save) hooks.save({});
    if (length == killed_at) throw Error("killed");
    std::vector<TrainingResult> results;
    for (const std::size_t plan : plans) {
      TrainingResult& result = results.emplace_back();
      result.table = table_of(plan, static_cast<double>(length));
      result.steps = length;
      result.best_length = length;
      result.validation.recall = result.validation.ndcg = {
          scores[plan].at(length), scores[plan].at(length), scores[plan].at(length)};
      result.overfits = overfit[plan];
      result.stopped = length == stopped_at;
    }
    return results;
  }
};

// The longest is best, clearly, nearly (by less than the margin), not at all, and by a second
// maximum; the last one's validation fell on the way.
const std::vector<std::map<std::uint64_t, double>> kScores = {
    {{320, 0.5}, {160, 0.49}, {80, 0.48}, {40, 0.45}, {20, 0.4}, {10, 0.3}},
    {{320, 0.5}, {160, 0.504}, {80, 0.503}, {40, 0.502}, {20, 0.502}, {10, 0.502}},
    {{320, 0.5}, {160, 0.55}, {80, 0.6}, {40, 0.58}, {20, 0.5}, {10, 0.4}},
    {{320, 0.5}, {160, 0.4}, {80, 0.4}, {40, 0.4}, {20, 0.53}, {10, 0.52}},
    {{320, 0.5}, {160, 0.52}, {80, 0.51}, {40, 0.45}, {20, 0.4}, {10, 0.3}}};
const std::vector<bool> kOverfit = {false, false, false, false, true};
const std::vector<std::uint64_t> kBest = {320, 320, 80, 20, 160};

void expect_best(const std::vector<TrainingResult>& results) {
  ASSERT_EQ(results.size(), kBest.size());
  for (std::size_t plan = 0; plan < results.size(); ++plan) {
    SCOPED_TRACE(plan);
    EXPECT_EQ(results[plan].best_length, kBest[plan]);
    EXPECT_EQ(results[plan].validation.score(), kScores[plan].at(kBest[plan]));
    EXPECT_EQ(results[plan].table.values[0][0].item<float>(), static_cast<float>(plan));
    EXPECT_EQ(results[plan].table.values[0][1].item<float>(), static_cast<float>(kBest[plan]));
    EXPECT_EQ(results[plan].steps, 320U + 40 + 10 + 160 + 80 + 20);
    EXPECT_FALSE(results[plan].stopped);
  }
}

TEST(TrainingLength, TriesMoreLengthsOnlyWhereLessMayBeBetter) {
  MadeUpTrainings made_up(kScores, kOverfit);
  expect_best(made_up.run());
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4};
  const std::vector<std::size_t> some = {2, 3, 4};
  const std::vector<std::pair<std::uint64_t, std::vector<std::size_t>>> expected = {
      {320, all}, {40, all}, {10, all}, {160, some}, {80, some}, {20, some}};
  EXPECT_EQ(made_up.asked, expected);
}

TEST(TrainingLength, WhereTheWholeIsBestThreeLengthsAreEnough) {
  MadeUpTrainings made_up({kScores[0]}, {false});
  const TrainingResult result = made_up.run()[0];
  EXPECT_EQ(result.best_length, 320U);
  EXPECT_EQ(result.steps, 320U + 40 + 10);
}

TEST(TrainingLength, ResumesFromAnyTrainingToTheSameResult) {
  for (const std::uint64_t killed_at : {320, 40, 10, 160, 80, 20}) {
    SCOPED_TRACE(killed_at);
    Checkpoint state;
    TrainingHooks hooks;
    hooks.save = [&](const Checkpoint& checkpoint) { state = checkpoint; };
    MadeUpTrainings dies(kScores, kOverfit);
    dies.killed_at = killed_at;
    EXPECT_THROW(dies.run(hooks), Error);
    MadeUpTrainings resumes(kScores, kOverfit);
    expect_best(resumes.run({}, &state));
    EXPECT_EQ(resumes.resumed_at, killed_at);
    EXPECT_EQ(resumes.asked[0], dies.asked.back());
    EXPECT_EQ(resumes.asked.size() + dies.asked.size(), 7U) << "nothing is trained twice";
  }
}

TEST(TrainingLength, AStopKeepsTheBestOfTheTrainingsThatEnded) {
  MadeUpTrainings made_up(kScores, kOverfit);
  made_up.stopped_at = 80;
  const std::vector<TrainingResult> results = made_up.run();
  EXPECT_EQ(made_up.asked.back().first, 80U);
  const std::vector<std::uint64_t> best = {320, 320, 40, 10, 160};
  for (std::size_t plan = 0; plan < best.size(); ++plan) {
    EXPECT_EQ(results[plan].best_length, best[plan]) << plan;
    EXPECT_TRUE(results[plan].stopped);
  }
}

TEST(TrainingLength, ProgressNeverExceedsItsTotal) {
  MadeUpTrainings made_up(kScores, kOverfit);
  TrainingHooks hooks;
  double highest = 0;
  hooks.progress = [&](const Progress& progress) {
    EXPECT_LE(progress.done, progress.total);
    EXPECT_GE(progress.done, highest);
    highest = progress.done;
  };
  LengthTrials trials = made_up.trials();
  const auto train = trials.train;
  trials.train = [&](std::span<const std::size_t> plans, const Schedule& schedule,
                     const TrainingHooks& round, const Checkpoint* state) {
    const auto length = static_cast<double>(schedule.max_steps);
    for (const double done : {1.0, length}) round.progress({"train", done, length, ""});
    return train(plans, schedule, round, state);
  };
  expect_best(train_with_best_length(trials, of_320_steps(), hooks, nullptr));
  EXPECT_EQ(highest, 630);
}

}  // namespace
}  // namespace bet
