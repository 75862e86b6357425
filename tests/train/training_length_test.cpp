#include "train/training_length.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
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

  std::vector<std::map<std::uint64_t, double>> scores;  // by plan: of each length
  std::vector<bool> overfit;                            // by plan
  // By plan: of lengths at a lower rate, by how many times lower it is.
  std::vector<std::map<std::pair<std::uint64_t, std::uint64_t>, double>> slower_scores;
  double usual_rate = 1;
  bool varies = false;
  std::uint64_t far_rate = 1;
  std::vector<std::pair<std::uint64_t, std::vector<std::size_t>>> asked;  // lengths and plans
  std::vector<std::uint64_t> rates;                                       // of those, 1/..
  std::uint64_t killed_at = 0;                                            // length; 0: none
  std::uint64_t killed_slower = 1;                                        // and rate
  std::uint64_t stopped_at = 0;
  std::uint64_t resumed_at = 0;

  LengthTrials trials() {
    return {scores.size(),
            [this](std::span<const std::size_t> plans, const Schedule& schedule,
                   const TrainingHooks& hooks,
                   const Checkpoint* state) { return train(plans, schedule, hooks, state); },
            [](std::size_t plan) { return table_of(plan); },
            usual_rate,
            varies,
            !slower_scores.empty(),
            far_rate};
  }

  std::vector<TrainingResult> run(const TrainingHooks& hooks = {},
                                  const Checkpoint* state = nullptr) {
    return train_with_best_length(trials(), of_320_steps(), hooks, state);
  }

 private:
  std::vector<TrainingResult> train(std::span<const std::size_t> plans, const Schedule& schedule,
                                    const TrainingHooks& hooks, const Checkpoint* state) {
    const std::uint64_t length = schedule.max_steps;
    const auto slower = static_cast<std::uint64_t>(
        std::lround(of_320_steps().learning_rate * usual_rate / schedule.learning_rate));
    EXPECT_TRUE(schedule.evaluates_at(length));
    asked.emplace_back(length, std::vector<std::size_t>(plans.begin(), plans.end()));
    rates.push_back(slower);
    if (state != nullptr) resumed_at = length;
    if (hooks.save) hooks.save({});
    if (length == killed_at && slower == killed_slower) throw Error("killed");
    std::vector<TrainingResult> results;
    for (const std::size_t plan : plans) {
      TrainingResult& result = results.emplace_back();
      result.table = table_of(plan, static_cast<double>(length));
      result.steps = length;
      result.best_length = length;
      const double score =
          slower == 1 ? scores[plan].at(length) : slower_scores[plan].at({length, slower});
      result.validation.recall = result.validation.ndcg = {score, score, score};
      result.overfits = overfit[plan];
      result.stopped = length == stopped_at;
    }
    return results;
  }
};

// The longest is best, clearly, nearly (by less than the margin), not at all, and by a second
// maximum; the last one's validation fell on the way, and a quarter is hardly worse than half.
const std::vector<std::map<std::uint64_t, double>> kScores = {
    {{320, 0.5}, {160, 0.49}, {80, 0.48}, {40, 0.45}, {20, 0.4}, {10, 0.3}},
    {{320, 0.5}, {160, 0.504}, {80, 0.503}, {40, 0.502}, {20, 0.502}, {10, 0.502}},
    {{320, 0.5}, {160, 0.55}, {80, 0.6}, {40, 0.58}, {20, 0.5}, {10, 0.4}},
    {{320, 0.5}, {160, 0.4}, {80, 0.4}, {40, 0.4}, {20, 0.53}, {10, 0.52}},
    {{320, 0.5}, {160, 0.52}, {80, 0.517}, {40, 0.45}, {20, 0.4}, {10, 0.3}}};
const std::vector<bool> kOverfit = {false, false, false, false, true};
const std::vector<std::uint64_t> kBest = {320, 320, 80, 20, 80};

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

// At lower rates: the first, of few data, is better in half the rate over twice the length, and
// again; the second, of the whole length, at the far rate and at half of it; the third never.
MadeUpTrainings at_lower_rates() {
  MadeUpTrainings made_up({kScores[2], kScores[0], kScores[0]}, {false, false, false});
  made_up.far_rate = 2;
  made_up.slower_scores = {{{{40, 2}, 0.5},
                            {{80, 2}, 0.59},
                            {{160, 2}, 0.62},
                            {{80, 4}, 0.6},
                            {{160, 4}, 0.61},
                            {{320, 4}, 0.64},
                            {{160, 8}, 0.6},
                            {{320, 8}, 0.6}},
                           {{{320, 2}, 0.51}, {{320, 4}, 0.52}, {{320, 8}, 0.515}},
                           {{{320, 2}, 0.5}}};
  return made_up;
}

void expect_lower_rates(const std::vector<TrainingResult>& results) {
  const std::vector<double> rates = {0.25, 0.25, 1};
  const std::vector<double> scores = {0.64, 0.52, 0.5};
  for (std::size_t plan = 0; plan < rates.size(); ++plan) {
    SCOPED_TRACE(plan);
    EXPECT_EQ(results[plan].best_length, 320U);
    EXPECT_EQ(results[plan].best_rate, rates[plan]);
    EXPECT_EQ(results[plan].validation.score(), scores[plan]);
    EXPECT_EQ(results[plan].few_data, plan == 0);
  }
}

TEST(TrainingLength, HalvesTheRateAsLongAsThatIsBetter) {
  MadeUpTrainings made_up = at_lower_rates();
  expect_lower_rates(made_up.run());
  const std::vector<std::pair<std::uint64_t, std::vector<std::size_t>>> expected = {
      {320, {0, 1, 2}}, {40, {0, 1, 2}}, {10, {0, 1, 2}}, {160, {0}}, {80, {0}},  {20, {0}},
      {40, {0}},        {160, {0}},      {80, {0}},       {320, {0}}, {160, {0}}, {80, {0}},
      {320, {0}},       {160, {0}},      {320, {1, 2}},   {320, {1}}, {320, {1}}};
  EXPECT_EQ(made_up.asked, expected);
  EXPECT_EQ(made_up.rates,
            (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 2, 4, 8}));
}

TEST(TrainingLength, AFarRateLeadsToThoseBetween) {
  MadeUpTrainings made_up({kScores[0], kScores[0]}, {false, false});
  made_up.far_rate = 32;
  made_up.slower_scores = {
      {{{320, 32}, 0.6}, {{320, 64}, 0.59}, {{320, 16}, 0.61}, {{320, 8}, 0.5}},
      {{{320, 32}, 0.4}}};
  const std::vector<TrainingResult> results = made_up.run();
  EXPECT_EQ(results[0].best_rate, 1.0 / 16);
  EXPECT_EQ(results[1].best_rate, 1);
  EXPECT_EQ(made_up.rates, (std::vector<std::uint64_t>{1, 1, 1, 32, 64, 16, 8}));
}

// Less than a clear difference is noise: 1/64 here, of which a final training would have the harm.
TEST(TrainingLength, ARateBesideTheFarOneMustBeClearlyBetter) {
  MadeUpTrainings made_up({kScores[0]}, {false});
  made_up.far_rate = 32;
  made_up.slower_scores = {{{{320, 32}, 0.6}, {{320, 64}, 0.603}, {{320, 16}, 0.604}}};
  EXPECT_EQ(made_up.run()[0].best_rate, 1.0 / 32);
  EXPECT_EQ(made_up.rates, (std::vector<std::uint64_t>{1, 1, 1, 32, 64, 16}));
}

TEST(TrainingLength, OfModelsThatVaryALowerRateMustBeClearlyBetter) {
  MadeUpTrainings made_up({kScores[2]}, {false});
  made_up.slower_scores = {{{{40, 2}, 0.5},
                            {{80, 2}, 0.59},
                            {{160, 2}, 0.604},
                            {{80, 4}, 0.6},
                            {{160, 4}, 0.603},
                            {{320, 4}, 0.6}}};
  EXPECT_EQ(made_up.run()[0].best_rate, 0.5);
  made_up.varies = true;
  EXPECT_EQ(made_up.run()[0].best_rate, 1);
}

TEST(TrainingLength, RatesArePartsOfTheUsualOneOfThesePlans) {
  MadeUpTrainings made_up = at_lower_rates();
  made_up.usual_rate = 0.5;
  const std::vector<TrainingResult> results = made_up.run();
  EXPECT_EQ(results[0].best_rate, 0.125);
  EXPECT_EQ(results[1].best_rate, 0.125);
  EXPECT_EQ(results[2].best_rate, 0.5);
}

TEST(TrainingLength, LowerRatesOfTheWholeLengthAreNotTriedWithoutAFarRate) {
  MadeUpTrainings made_up = at_lower_rates();
  made_up.far_rate = 1;
  const std::vector<TrainingResult> results = made_up.run();
  EXPECT_EQ(results[0].best_rate, 0.25);
  EXPECT_EQ(results[1].best_rate, 1);
}

TEST(TrainingLength, ResumesALowerRateToTheSameResult) {
  for (const auto& [length, slower] : {std::pair<std::uint64_t, std::uint64_t>{20, 1},
                                       {320, 2},
                                       {160, 2},
                                       {80, 2},
                                       {320, 4},
                                       {160, 4},
                                       {320, 8}}) {
    SCOPED_TRACE(std::to_string(length) + " steps, 1/" + std::to_string(slower));
    Checkpoint state;
    TrainingHooks hooks;
    hooks.save = [&](const Checkpoint& checkpoint) { state = checkpoint; };
    MadeUpTrainings dies = at_lower_rates();
    dies.killed_at = length;
    dies.killed_slower = slower;
    EXPECT_THROW(dies.run(hooks), Error);
    MadeUpTrainings resumes = at_lower_rates();
    expect_lower_rates(resumes.run({}, &state));
    EXPECT_EQ(resumes.asked[0], dies.asked.back());
    EXPECT_EQ(resumes.asked.size() + dies.asked.size(), 18U) << "nothing is trained twice";
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
