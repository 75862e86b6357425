#include <gtest/gtest.h>
#include <torch/torch.h>

#include <array>
#include <cmath>

#include "support/expect_error.h"
#include "support/rank_threads.h"
#include "support/retrain_plan.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"
#include "train/evaluator.h"
#include "train/joined_checkpoint.h"
#include "train/retraining.h"

// A table whose columns are divided among ranks is trained as one process would train it.

namespace bet {
namespace {

using test::errors_of_ranks;
using test::run_ranks;
using test::TempFolder;

struct ColumnCase {
  Split split = test::toy_split(150, 90, 2500);
  Graph graph = make_graph(split, TrainingPart::kTrain);
  SizePlan plan = test::toy_plan(split, 13);
  Schedule schedule;
  ModelOptions model;

  explicit ColumnCase(const std::string& backbone = "lightgcn") {
    model.backbone = backbone;
    schedule.batch_size = 300;
    schedule.max_steps = 100;
    schedule.measure_steps = 20;
  }

  ModelOptions with(RankGroup* ranks) const {
    ModelOptions options = model;
    options.ranks = ranks;
    return options;
  }

  // The loss of every step.
  std::vector<double> losses(RankGroup* ranks = nullptr, std::uint64_t steps = 100) const {
    ModelInTraining training(graph, std::span(&plan, 1), with(ranks), schedule);
    std::vector<double> all;
    for (std::uint64_t step = 0; step < steps; ++step) {
      training.step();
      all.push_back(training.take_mean_losses().at(0));
    }
    return all;
  }
};

void expect_near(const std::vector<double>& losses, const std::vector<double>& expected) {
  ASSERT_EQ(losses.size(), expected.size());
  for (std::size_t step = 0; step < losses.size(); ++step) {
    ASSERT_NEAR(losses[step], expected[step], 1e-5) << "step " << step;
  }
}

struct LossCase {
  const char* backbone;
  LossKind kind;
  std::uint32_t pool;
  std::uint32_t size;  // of the batch

  friend std::ostream& operator<<(std::ostream& out, const LossCase& c) {
    return out << c.backbone << " " << loss_name(c.kind) << " pool " << c.pool;
  }
};

class ColumnLosses : public testing::TestWithParam<LossCase> {};

TEST_P(ColumnLosses, AreThoseOfOneProcess) {
  ColumnCase one(GetParam().backbone);
  one.model.losses = {{.kind = GetParam().kind, .temperature = 2}};
  one.schedule.pool = GetParam().pool;
  one.schedule.batch_size = GetParam().size;
  const std::vector<double> expected = one.losses();
  EXPECT_LT(expected.back(), 0.9 * expected.front()) << "it learns";
  for (const std::uint32_t size : {2U, 4U}) {
    std::vector<std::vector<double>> losses(size);
    run_ranks(size, [&](RankGroup& ranks) { losses[ranks.rank()] = one.losses(&ranks); });
    expect_near(losses[0], expected);
    for (const std::vector<double>& of_rank : losses) EXPECT_EQ(of_rank, losses[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ColumnLosses,
                         testing::Values(LossCase{"lightgcn", LossKind::kBpr, 1, 300},
                                         LossCase{"lightgcn", LossKind::kSoftmax, 32, 300},
                                         LossCase{"mf", LossKind::kBpr, 32, 301},
                                         LossCase{"mf", LossKind::kSoftmax, 64, 300},
                                         LossCase{"mf", LossKind::kBpr, 1, 300}));

// Scores that are summed in several parts: their bounds are those of blocks.
TEST(ColumnTraining, LargeBatchesAreSummedInParts) {
  ColumnCase one("mf");
  one.schedule.pool = 512;
  one.schedule.batch_size = 5'000;
  one.model.losses = {{.kind = LossKind::kSoftmax}};
  const std::vector<double> expected = one.losses(nullptr, 3);
  run_ranks(2, [&](RankGroup& ranks) { expect_near(one.losses(&ranks, 3), expected); });
}

TEST(ColumnTraining, StartsWithTheColumnsOfOneProcessAndJoinsToTheWholeTable) {
  const ColumnCase one;
  const ModelParameters whole = make_table(one.plan, one.model.seed);
  run_ranks(3, [&](RankGroup& ranks) {
    const ModelParameters own =
        initial_parameters(one.with(&ranks), one.graph, std::span(&one.plan, 1));
    EXPECT_LT(own.values.numel(), whole.values.numel());
    const ModelParameters joined = joined_parameters(own, one.plan, ranks);
    ASSERT_EQ(joined.values.defined(), ranks.rank() == 0);
    if (ranks.rank() != 0) return;
    EXPECT_TRUE(torch::equal(joined.values, whole.values));
    EXPECT_TRUE(torch::equal(joined.sizes, whole.sizes));
    EXPECT_EQ(joined.models[0].width, whole.models[0].width);
  });
}

// What each rank ranks by is its part of the same vectors: then the lists are the same too.
TEST(ColumnTraining, RanksAsOneProcessDoes) {
  const ColumnCase one;
  const Evaluator evaluator(one.split, HeldOut::kValidation, one.graph);
  const ModelParameters whole = make_table(one.plan, 3, 0.5);
  const std::vector<UserHits> expected = evaluator.user_hits(whole.values, whole.models[0]);
  for (const std::uint32_t size : {2U, 3U, 4U}) {
    run_ranks(size, [&](RankGroup& ranks) {
      const ColumnSlice slice{ranks.rank(), size};
      const ModelParameters own = make_table(slice_of(one.plan, slice), 3, 0.5, slice);
      Scoring scoring = own.models[0];
      scoring.ranks = &ranks;
      const std::vector<UserHits> hits = evaluator.user_hits(own.values, scoring);
      ASSERT_EQ(hits.size(), expected.size());
      std::uint32_t any = 0;
      for (std::size_t i = 0; i < hits.size(); ++i) {
        EXPECT_EQ(hits[i].hits, expected[i].hits) << i;
        EXPECT_EQ(hits[i].held_out, expected[i].held_out);
        any |= hits[i].hits;
      }
      EXPECT_NE(any, 0U) << "there is something to compare";
    });
  }
}

// Trains to the end of `schedule`, and keeps its state in `file`.
TrainingResult train_by(const ColumnCase& one, RankGroup* ranks, const Schedule& schedule,
                        StateFile file) {
  file.ranks = ranks;
  file.width = one.plan.width();
  const std::optional<Checkpoint> state = file.read();
  TrainingHooks hooks;
  hooks.save_seconds = 1e9;
  hooks.save = [&](const Checkpoint& checkpoint) { file.write(checkpoint); };
  const ModelOptions model = one.with(ranks);
  return train_to_convergence({one.split, one.graph, model, schedule, hooks},
                              std::span(&one.plan, 1), state ? &*state : nullptr)[0];
}

TEST(ColumnTraining, GoesOnWithAnotherNumberOfRanks) {
  const ColumnCase one;
  const TempFolder folder;
  Schedule schedule = one.schedule;
  schedule.patience = 100;
  const StateFile alone{folder / "alone.ckpt", "toy"};
  train_by(one, nullptr, schedule, alone);
  const Checkpoint expected = read_checkpoint(alone.path);
  const StateFile file{folder / "ranks.ckpt", "toy"};
  std::uint64_t steps = 0;
  for (const std::uint32_t size : {4U, 2U, 1U}) {
    Schedule part = schedule;
    part.max_steps = steps = size == 1 ? 100 : steps + 37;
    if (size == 1) {
      train_by(one, nullptr, part, file);
    } else {
      run_ranks(size, [&](RankGroup& ranks) { train_by(one, &ranks, part, file); });
    }
    const Checkpoint saved = read_checkpoint(file.path);
    EXPECT_EQ(saved.number("record 0 steps"), static_cast<double>(steps));
    ASSERT_EQ(saved.tensor("table").sizes(), expected.tensor("table").sizes())
        << "the file is that of one process";
  }
  const Checkpoint saved = read_checkpoint(file.path);
  EXPECT_NEAR(saved.number("record 0 loss"), expected.number("record 0 loss"), 100 * 1e-5);
  for (const char* name : {"table", "moment1", "moment2"}) {
    const double largest = expected.tensor(name).abs().max().item<double>();
    const at::Tensor difference = saved.tensor(name) - expected.tensor(name);
    EXPECT_LT(difference.abs().max().item<double>(), 1e-3 * largest) << name;
  }
}

TEST(ColumnTraining, TheStateOfOtherOptionsOrADamagedOneIsRefusedOnEveryRank) {
  const ColumnCase one;
  const TempFolder folder;
  const StateFile file{folder / "state.ckpt", "toy"};
  Schedule schedule = one.schedule;
  schedule.max_steps = 5;
  run_ranks(2, [&](RankGroup& ranks) { train_by(one, &ranks, schedule, file); });
  const auto refusals = [&](const StateFile& of) {
    return errors_of_ranks(2, [&](RankGroup& ranks) { train_by(one, &ranks, schedule, of); });
  };
  for (const std::string& error : refusals({file.path, "another"})) {
    EXPECT_NE(error.find("was written for other data or options"), std::string::npos) << error;
  }
  std::string bytes = test::read_file(file.path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  for (const std::string& error : refusals({folder.write("bad.ckpt", bytes), "toy"})) {
    EXPECT_NE(error.find("bad.ckpt: damaged checkpoint"), std::string::npos) << error;
  }
  for (const std::string& error : refusals({folder / "none" / "state.ckpt", "toy"})) {
    EXPECT_NE(error.find("none/"), std::string::npos) << "it cannot be written: " << error;
  }
}

TEST(ColumnTraining, OneRankThatIsAskedToLeaveLeavesWithAll) {
  const ColumnCase one;
  const TempFolder folder;
  const StateFile file{folder / "state.ckpt", "toy"};
  const std::vector<std::string> errors = errors_of_ranks(2, [&](RankGroup& ranks) {
    StateFile own = file;
    own.ranks = &ranks;
    own.width = one.plan.width();
    int asked = 0;
    TrainingHooks hooks;
    if (ranks.rank() == 1) hooks.leave = [&] { return ++asked == 8; };
    hooks.save_seconds = 1e9;
    hooks.save = [&](const Checkpoint& checkpoint) { own.write(checkpoint); };
    const ModelOptions model = one.with(&ranks);
    train_to_convergence({one.split, one.graph, model, one.schedule, hooks},
                         std::span(&one.plan, 1));
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "stopped before the end");
  EXPECT_EQ(read_checkpoint(file.path).number("record 0 steps"), 7);
}

// From a plan to the final model, with the trainings of other lengths that a linear decay makes.
TEST(ColumnTraining, RetrainsAPlanAsOneProcessDoes) {
  ColumnCase one;
  one.schedule.linear = true;
  one.schedule.max_steps = 64;
  one.schedule.measure_steps = 0;
  const TempFolder folder;
  const auto retrain = [&](RankGroup* ranks, const char* name) {
    RetrainingOptions options;
    options.model = one.with(ranks);
    options.schedule = one.schedule;
    const std::filesystem::path path = folder / name;
    if (ranks == nullptr || ranks->rank() == 0) std::filesystem::create_directories(path);
    return test::retrain_plan(one.split, one.plan, options, {}, {path, "toy"});
  };
  const RetrainingResult expected = retrain(nullptr, "alone");
  run_ranks(2, [&](RankGroup& ranks) {
    const RetrainingResult result = retrain(&ranks, "ranks");
    EXPECT_EQ(result.best_length, expected.best_length);
    EXPECT_EQ(result.final_steps, expected.final_steps);
    EXPECT_NEAR(result.test.score(), expected.test.score(), 5e-3);
    ASSERT_EQ(result.table.values.defined(), ranks.rank() == 0);
    if (ranks.rank() != 0) return;
    const FinalModel model = read_final_model(folder / "ranks", one.plan.shape());
    EXPECT_TRUE(torch::equal(model.table.values, result.table.values));
    EXPECT_LT((result.table.values - expected.table.values).abs().max().item<double>(), 1e-3);
    EXPECT_TRUE(torch::equal(result.table.sizes, expected.table.sizes));
  });
}

TEST(ColumnTraining, WhatCannotBeDividedIsRefusedByName) {
  const auto refusal = [](const ColumnCase& one) {
    const std::vector<std::string> errors =
        errors_of_ranks(2, [&](RankGroup& ranks) { one.losses(&ranks, 1); });
    EXPECT_EQ(errors[0], errors[1]);
    return errors[0];
  };
  EXPECT_NE(refusal(ColumnCase("ncf")).find("2 ranks: --backbone ncf"), std::string::npos);
  EXPECT_NE(refusal(ColumnCase("ngcf")).find("2 ranks: --backbone ngcf"), std::string::npos);
  ColumnCase cosine;
  cosine.model.losses = {{.score = ScoreKind::kCosine}};
  EXPECT_NE(refusal(cosine).find("--score must be dot"), std::string::npos);
  ColumnCase narrow;
  narrow.plan = full_plan({narrow.split.num_users(), narrow.split.num_items(), 1});
  EXPECT_NE(refusal(narrow).find("1 columns for 2 ranks"), std::string::npos);
  ColumnCase quantised;
  quantised.plan = quantised.plan.with_precision({Precision::kInt8, Precision::kInt8});
  EXPECT_NE(refusal(quantised).find("int8"), std::string::npos);
}

TEST(ColumnTraining, TakesTheMemoryOfItsColumns) {
  ColumnCase one;
  one.plan = full_plan({one.split.num_users(), one.split.num_items(), 64});
  const auto bytes = [&](RankGroup* ranks) {
    return training_memory(one.graph, std::span(&one.plan, 1), one.with(ranks), one.schedule).least;
  };
  run_ranks(4, [&](RankGroup& ranks) { EXPECT_EQ(4 * bytes(&ranks), bytes(nullptr)); });
}

TEST(ColumnTraining, ARankWithAnotherTrainingIsNamed) {
  const std::vector<std::string> errors = errors_of_ranks(3, [](RankGroup& ranks) {
    ColumnCase own;
    if (ranks.rank() == 1) own.model.seed = 5;
    own.losses(&ranks, 1);
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error.find("rank 1 has seed = 5, and rank 0 seed = 1"), 0U) << error;
  }
}

}  // namespace
}  // namespace bet
