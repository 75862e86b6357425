#include "train/trainer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/available_memory.h"
#include "model/tensor_memory.h"
#include "support/expect_error.h"
#include "support/retrain_plan.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"
#include "train/evaluator.h"

namespace bet {
namespace {

using test::error_of;
using test::retrain_plan;
using test::TempFolder;

Schedule toy_schedule() {
  Schedule schedule;
  schedule.batch_size = 200;
  schedule.measure_steps = 10;
  schedule.max_steps = 60;
  schedule.patience = 10;
  return schedule;
}

TEST(Checkpoint, ComesBackAndEveryDamageIsNoticed) {
  const TempFolder folder;
  Checkpoint checkpoint;
  checkpoint.numbers = {{"step", 17}, {"loss", 0.1}};
  checkpoint.texts = {{"phase", "train"}};
  checkpoint.tensors = {{"a", torch::randn({3, 8})}, {"b", torch::randn({5, 16})}};
  const auto path = folder / "x.ckpt";
  write_checkpoint(checkpoint, path);
  const Checkpoint read = read_checkpoint(path);
  EXPECT_EQ(read.numbers, checkpoint.numbers);
  EXPECT_EQ(read.texts, checkpoint.texts);
  EXPECT_TRUE(torch::equal(read.tensor("a"), checkpoint.tensor("a")));
  EXPECT_TRUE(torch::equal(read.tensor("b"), checkpoint.tensor("b")));
  EXPECT_THROW(read.tensor("c"), Error);

  const std::string bytes = test::read_file(path);
  for (std::size_t size = 0; size < bytes.size(); size += 13) {
    EXPECT_THROW(read_checkpoint(folder.write("cut.ckpt", bytes.substr(0, size))), Error) << size;
  }
  for (std::size_t position = 0; position < bytes.size(); position += 7) {
    std::string damaged = bytes;
    damaged[position] = static_cast<char>(damaged[position] ^ 0x10);
    EXPECT_THROW(read_checkpoint(folder.write("bad.ckpt", damaged)), Error) << position;
  }
}

// Of one plan.
TrainingResult converge(const Split& split, const Graph& graph, const SizePlan& plan,
                        const Schedule& schedule, const TrainingHooks& hooks,
                        const Checkpoint* state = nullptr) {
  return train_to_convergence({split, graph, {}, schedule, hooks}, std::span(&plan, 1), state)[0];
}
TrainingResult train(const Graph& graph, const SizePlan& plan, const ModelOptions& options,
                     const Schedule& schedule, std::uint64_t steps) {
  return train_steps({Split(), graph, options, schedule.of_length(steps), {}},
                     std::span(&plan, 1))[0];
}

TEST(Trainer, LearnsAndKeepsTheBest) {
  const Split split = test::toy_split(300, 120, 6000);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const SizePlan plan = test::toy_plan(split, 16);
  const TrainingResult result = converge(split, graph, plan, toy_schedule(), {});
  EXPECT_LT(result.history.back().loss, 0.7 * result.history.front().loss);
  double best = 0;
  std::uint64_t best_length = 0;
  for (const Measurement& m : result.history) {
    if (m.validation.score() > best) {
      best = m.validation.score();
      best_length = m.step;
    }
  }
  EXPECT_EQ(result.best_length, best_length);
  EXPECT_EQ(result.validation.score(), best);
  const Metrics again = evaluate(propagate(result.table.values, graph), result.table.models[0],
                                 split, HeldOut::kValidation, graph);
  EXPECT_EQ(again.score(), best) << "the weights kept are those measured";
}

TEST(Trainer, StopsWhenPatienceIsOver) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  Schedule schedule = toy_schedule();
  schedule.max_steps = 100'000;
  schedule.measure_steps = 5;
  schedule.patience = 2;
  schedule.learning_rate = 0.3;  // overfits at once
  const TrainingResult result = converge(split, graph, test::toy_plan(split, 16), schedule, {});
  EXPECT_EQ(result.steps, result.best_length + 2 * 5);
}

TEST(Trainer, ResumesFromACheckpointToTheSameBits) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const SizePlan plan = test::toy_plan(split, 12);
  const TrainingResult whole = converge(split, graph, plan, toy_schedule(), {});

  for (const int stop_at : {1, 10, 27}) {
    Checkpoint state;
    int asked = 0;
    TrainingHooks hooks;
    hooks.stop = [&]() -> bool {
      if (asked++ == stop_at) throw Error("killed");
      return false;
    };
    hooks.save_seconds = 0;
    hooks.save = [&](const Checkpoint& checkpoint) {
      state = checkpoint;
      for (auto& [name, tensor] : state.tensors) tensor = tensor.clone();
    };
    EXPECT_THROW(converge(split, graph, plan, toy_schedule(), hooks), Error);
    EXPECT_EQ(state.number("record 0 steps"), stop_at);
    const TrainingResult resumed = converge(split, graph, plan, toy_schedule(), {}, &state);
    EXPECT_EQ(resumed.best_length, whole.best_length);
    EXPECT_EQ(resumed.validation.score(), whole.validation.score());
    EXPECT_EQ(resumed.history, whole.history);
    EXPECT_TRUE(torch::equal(resumed.table.values, whole.table.values));
  }
}

TEST(Trainer, SameSeedSameBitsForAnyThreadCount) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  for (const BackboneKind* kind : backbones()) {
    SCOPED_TRACE(kind->name);
    const SizePlan plan = test::toy_plan(split, 12, kind->tables);
    const auto run = [&](int threads, std::uint64_t seed) {
      torch::set_num_threads(threads);
      ModelOptions options;
      options.backbone = kind->name;
      options.seed = seed;
      return train(graph, plan, options, toy_schedule(), 20).table.values;
    };
    const torch::Tensor one = run(1, 1);
    EXPECT_TRUE(torch::equal(one, run(2, 1)));
    EXPECT_TRUE(torch::equal(one, run(3, 1)));
    EXPECT_FALSE(torch::equal(one, run(1, 2)));
  }
}

TEST(Trainer, PlansSideBySideAreTrainedAsAlone) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const std::vector<SizePlan> plans = {test::toy_plan(split, 12), test::toy_plan(split, 5),
                                       test::toy_plan(split, 33)};
  for (const std::uint32_t pool : {1U, kPool}) {
    Schedule schedule = toy_schedule();
    schedule.pool = pool;
    schedule.patience = 2;
    const auto joined = train_to_convergence({split, graph, {}, schedule, {}}, plans);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const TrainingResult alone = converge(split, graph, plans[i], schedule, {});
      EXPECT_EQ(joined[i].best_length, alone.best_length);
      EXPECT_NEAR(joined[i].validation.score(), alone.validation.score(), 1e-3);
      EXPECT_TRUE(torch::allclose(joined[i].table.values, alone.table.values, 1e-3, 1e-4))
          << "plan " << i << ": "
          << (joined[i].table.values - alone.table.values).abs().max().item<double>();
    }
  }
}

TEST(Trainer, PlansSideBySideOfAnyBackboneResumeFromACheckpoint) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  for (const BackboneKind* kind : backbones()) {
    SCOPED_TRACE(kind->name);
    ModelOptions options;
    options.backbone = kind->name;
    options.dim = 12;
    const std::vector<SizePlan> plans = {test::toy_plan(split, 12, kind->tables),
                                         test::toy_plan(split, 5, kind->tables)};
    const auto train_all = [&](const TrainingHooks& hooks, const Checkpoint* from) {
      return train_to_convergence({split, graph, options, toy_schedule(), hooks}, plans, from);
    };
    const auto whole = train_all({}, nullptr);
    Checkpoint state;
    TrainingHooks hooks;
    int asked = 0;
    hooks.stop = [&]() -> bool {
      if (asked++ == 25) throw Error("killed");
      return false;
    };
    hooks.save_seconds = 0;
    hooks.save = [&](const Checkpoint& checkpoint) {
      state = checkpoint;
      for (auto& [name, tensor] : state.tensors) tensor = tensor.clone();
    };
    EXPECT_THROW(train_all(hooks, nullptr), Error);
    const auto resumed = train_all({}, &state);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      EXPECT_TRUE(torch::equal(resumed[i].table.values, whole[i].table.values));
      EXPECT_EQ(resumed[i].best_length, whole[i].best_length);
      if (!whole[i].table.weights.defined()) continue;
      EXPECT_TRUE(torch::equal(resumed[i].table.weights, whole[i].table.weights));
    }
  }
}

TEST(Trainer, ALossThatIsNoNumberNamesTheStep) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  Schedule schedule = toy_schedule();
  schedule.learning_rate = 1e30;
  const std::string error =
      error_of([&] { train(graph, test::toy_plan(split, 12), {}, schedule, 20); });
  EXPECT_NE(error.find("the loss of step "), std::string::npos) << error;
}

// A linear decay that overfits this split: an eighth of it is better.
Schedule decay_that_overfits() {
  Schedule schedule = toy_schedule();
  schedule.linear = true;
  schedule.measure_steps = 5;
  schedule.max_steps = 320;
  schedule.patience = 1;
  schedule.learning_rate = 0.1;
  schedule.adam = {0.5F, 0.8F};
  return schedule;
}

// However often validation falls on the way: a rate that falls to zero gains most at its end.
// On the CPU as well: before a machine that is out of memory kills the process.
TEST(Trainer, TooLittleMemoryIsSaidWithTheSizesBeforeAnythingIsLost) {
  const Split split = test::toy_split();
  const TableShape shape{split.num_users(), split.num_items(), 4096, 1};
  ModelOptions options;
  options.dim = shape.max_dim;
  // Many side by side, which take more than freed tensors of other tests would leave.
  const std::vector<SizePlan> plans(100, full_plan(shape));
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const std::uint64_t needed = training_memory(graph, plans, options, toy_schedule()).least;
  ASSERT_GT(needed, 2 * reusable_tensor_bytes());
  ASSERT_GT(available_bytes(), needed);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit little = before;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  little.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + needed / 4;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
  const std::string error = error_of([&] {
    train_to_convergence({split, graph, options, toy_schedule(), {}}, plans, nullptr);
  });
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_NE(error.find("out of memory on cpu: training takes about "), std::string::npos) << error;
  EXPECT_NE(error.find(" MB are free"), std::string::npos) << error;
}

TEST(Trainer, ALinearDecayIsNeverCutShort) {
  const Split split = test::toy_split(300, 120, 6000);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const SizePlan plan = test::toy_plan(split, 64);
  const Schedule schedule = decay_that_overfits();
  TrainingHooks hooks;
  std::vector<std::string> lines;
  hooks.log = [&](const std::string& line) { lines.push_back(line); };
  const TrainingResult result = converge(split, graph, plan, schedule, hooks);
  EXPECT_NE(std::find_if(lines.begin(), lines.end(),
                         [](const std::string& line) { return line.starts_with("step 320 "); }),
            lines.end());
  ASSERT_TRUE(result.overfits);
  ASSERT_LT(result.best_length, schedule.max_steps);
  EXPECT_GT(result.steps, 320U + 40 + 10 + 160 + 80 + 20) << "every length, and a lower rate";
  EXPECT_LT(result.best_rate, 1);
  EXPECT_TRUE(result.few_data);
  // What is kept is the end of a whole schedule of that length, at that rate.
  Schedule at_rate = schedule;
  at_rate.learning_rate *= result.best_rate;
  const TrainingResult again = train(graph, plan, {}, at_rate, result.best_length);
  EXPECT_TRUE(torch::equal(again.table.values, result.table.values));
  const Metrics measured = evaluate(propagate(again.table.values, graph), again.table.models[0],
                                    split, HeldOut::kValidation, graph);
  EXPECT_EQ(measured.score(), result.validation.score());
}

TEST(Retraining, FinalTrainingIsFreshOnMoreDataForTheBestSteps) {
  const TempFolder folder;
  const Split split = test::toy_split(300, 120, 6000);
  const SizePlan plan = test::toy_plan(split, 12);
  RetrainingOptions options;
  options.schedule = toy_schedule();
  const RetrainingResult result = retrain_plan(split, plan, options, {}, {folder.path(), "x"});
  const Graph graph = make_graph(split, TrainingPart::kTrainAndValidation);
  const TrainingResult expected =
      train(graph, plan, options.model, options.schedule, result.best_length);
  EXPECT_TRUE(torch::equal(result.table.values, expected.table.values));
  EXPECT_EQ(result.final_steps, result.best_length);
  EXPECT_EQ(result.test.score(), evaluate(propagate(expected.table.values, graph),
                                          expected.table.models[0], split, HeldOut::kTest, graph)
                                     .score());
  const FinalModel stored = read_final_model(folder.path(), plan.shape());
  EXPECT_TRUE(torch::equal(stored.table.values, result.table.values));
  EXPECT_TRUE(torch::equal(stored.table.sizes, result.table.sizes));
}

TEST(Retraining, FinalTrainingHasTheBestPassesWhereTheScheduleSaysSo) {
  const TempFolder folder;
  const Split split = test::toy_split(300, 120, 6000);
  const SizePlan plan = test::toy_plan(split, 64);
  RetrainingOptions options;
  options.schedule = decay_that_overfits();
  options.schedule.final_by_passes = true;
  const RetrainingResult result = retrain_plan(split, plan, options, {}, {folder.path(), "x"});
  const Split::Counts counts = split.counts();
  ASSERT_LT(result.final_steps, options.schedule.max_steps);
  ASSERT_LT(result.loss.rate, 1);
  EXPECT_NEAR(static_cast<double>(result.final_steps) / static_cast<double>(result.best_length),
              1 + static_cast<double>(counts.validation) / static_cast<double>(counts.train), 0.05);
  // Its decay ends with its last step, and begins at the rate that was best.
  Schedule at_rate = options.schedule;
  at_rate.learning_rate *= result.loss.rate;
  const TrainingResult expected = train(make_graph(split, TrainingPart::kTrainAndValidation), plan,
                                        options.model, at_rate, result.final_steps);
  EXPECT_TRUE(torch::equal(result.table.values, expected.table.values));
}

TEST(Retraining, ResumesToTheSameBits) {
  const Split split = test::toy_split();
  const SizePlan plan = test::toy_plan(split, 12);
  RetrainingOptions options;
  options.schedule = toy_schedule();
  const TempFolder whole_folder;
  const RetrainingResult whole = retrain_plan(split, plan, options, {}, {whole_folder.path(), "x"});

  // The process dies in the final training: what it had saved then is all there is.
  const TempFolder folder;
  std::uint64_t steps = 0;
  TrainingHooks dies;
  dies.save_seconds = 0;
  dies.stop = [&]() -> bool {
    if (++steps == whole.train_steps + 2 + whole.best_length / 2) throw Error("killed");
    return false;
  };
  EXPECT_THROW(retrain_plan(split, plan, options, dies, {folder.path(), "x"}), Error);
  const Checkpoint state = read_checkpoint(folder / "state.ckpt");
  EXPECT_EQ(state.text("phase"), "final");
  EXPECT_GT(state.number("record 0 steps"), 0);
  // Runs of earlier versions are resumed by these names.
  for (const char* name : {"fit_train_steps", "fit_best_length", "fit_chosen", "fit_plans",
                           "fit_interrupted", "fit 0 users", "fit 0 recall@20"}) {
    EXPECT_TRUE(state.numbers.contains(name)) << name;
  }
  // As they left it: without the length of the final training.
  Checkpoint earlier = state;
  EXPECT_EQ(earlier.numbers.erase("fit_final_length"), 1U);
  for (const Checkpoint& left : {state, earlier}) {
    write_checkpoint(left, folder / "state.ckpt");
    const RetrainingResult resumed =
        retrain_plan(split, plan, options, {}, {folder.path(), "x", true});
    EXPECT_TRUE(torch::equal(resumed.table.values, whole.table.values));
    EXPECT_EQ(resumed.test.score(), whole.test.score());
    EXPECT_EQ(resumed.validation.score(), whole.validation.score());
    EXPECT_EQ(resumed.train_curve, whole.train_curve);
    EXPECT_EQ(resumed.final_curve, whole.final_curve);
    EXPECT_EQ(resumed.final_curve.back().step, whole.final_steps);
  }
}

TEST(Retraining, RefusesTheStateOfAnotherRun) {
  const TempFolder folder;
  Checkpoint state;
  state.texts = {{"phase", "train"}, {"identity", "other"}};
  write_checkpoint(state, folder / "state.ckpt");
  const Split split = test::toy_split();
  EXPECT_NE(error_of([&] {
              retrain_plan(split, test::toy_plan(split, 4), {}, {}, {folder.path(), "x", true});
            }).find("other data or options"),
            std::string::npos);
}

// A plan with a mask of the first columns trains to the same bits as the plan of those sizes; with
// any mask nothing else than what is kept ever moves from zero.
TEST(ModelInTraining, KeepsToMasks) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  for (const BackboneKind* kind : backbones()) {
    const SizePlan prefix = test::toy_plan(split, 12, kind->tables);
    TableShape shape = prefix.shape();
    shape.masks = true;
    std::vector<std::uint8_t> first;
    std::vector<std::uint8_t> any;
    for (const auto sizes : {prefix.user_sizes(), prefix.item_sizes()}) {
      for (const std::uint32_t size : sizes) {
        for (std::uint32_t column = 0; column < shape.max_dim; ++column) {
          first.push_back(column < size ? 1 : 0);
          any.push_back((column * 7 + size) % shape.max_dim < size ? 1 : 0);
        }
      }
    }
    const std::vector<SizePlan> plans = {prefix, SizePlan::masked(shape, first),
                                         SizePlan::masked(shape, any)};
    ModelOptions options;
    options.backbone = kind->name;
    options.dim = shape.max_dim;
    Schedule schedule;
    schedule.batch_size = 200;
    std::vector<at::Tensor> values;
    for (const SizePlan& plan : plans) {
      ModelInTraining model(graph, std::span(&plan, 1), options, schedule);
      for (int step = 0; step < 8; ++step) model.step();
      values.push_back(model.table().values.clone());
      if (!model.table().kept.defined()) continue;
      const at::Tensor zero = values.back().eq(0).to(at::kFloat);
      const at::Tensor width = model.table().kept.slice(1, 0, model.table().models[0].width);
      EXPECT_TRUE(at::equal(zero.slice(1, 0, width.size(1)), 1 - width)) << kind->name;
    }
    EXPECT_TRUE(at::equal(values[0], values[1])) << kind->name;
  }
}

}  // namespace
}  // namespace bet
