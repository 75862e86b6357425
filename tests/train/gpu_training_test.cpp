#include <torch/torch.h>

#include "support/expect_error.h"
#include "support/gpu.h"
#include "support/retrain_plan.h"
#include "support/temp_folder.h"
#include "support/toy_data.h"

namespace bet {
namespace {

using GpuTraining = test::OnGpu;
using test::retrain_plan;
using test::TempFolder;

Schedule schedule_of(std::uint32_t pool) {
  Schedule schedule;
  schedule.batch_size = 500;
  schedule.pool = pool;
  schedule.measure_steps = 20;
  schedule.max_steps = 120;
  schedule.patience = 10;
  return schedule;
}

TEST_F(GpuTraining, LossesAgreeWithTheCpusOver100Steps) {
  const Split split = test::toy_split(600, 200, 12'000);
  const Graph here = make_graph(split, TrainingPart::kTrain);
  const Graph there = here.to(gpu());
  const SizePlan plan = test::toy_plan(split, 24);
  for (const char* backbone : {"mf", "lightgcn"}) {
    for (const std::uint32_t pool : {1U, kPool, 128U}) {
      ModelOptions options;
      options.backbone = backbone;
      if (pool > kPool) options.losses = {{LossKind::kSoftmax, 1}};
      ModelInTraining cpu(here, std::span(&plan, 1), options, schedule_of(pool));
      ModelInTraining cuda(there, std::span(&plan, 1), options, schedule_of(pool));
      for (int step = 0; step < 100; ++step) {
        cpu.step();
        cuda.step();
        const double expected = cpu.take_mean_losses()[0];
        ASSERT_NEAR(cuda.take_mean_losses()[0], expected, 1e-4 * expected)
            << backbone << " pool " << pool << " step " << step;
      }
    }
  }
}

// Where a rounding error may bend an activation, over fewer steps.
TEST_F(GpuTraining, LossesOfDenseBackbonesAgreeWithTheCpusOver20Steps) {
  const Split split = test::toy_split(600, 200, 12'000);
  const Graph here = make_graph(split, TrainingPart::kTrain);
  const Graph there = here.to(gpu());
  for (const BackboneKind* kind : backbones()) {
    const SizePlan plan = test::toy_plan(split, 24, kind->tables);
    for (const std::uint32_t pool : {1U, kPool}) {
      ModelOptions options;
      options.backbone = kind->name;
      options.dim = 24;
      if (pool > 1) {
        const bool cosine = kind->dot_product && kind->uses_graph;
        options.losses = {{LossKind::kSoftmax, 0.5, cosine ? ScoreKind::kCosine : ScoreKind::kDot}};
      }
      ModelInTraining cpu(here, std::span(&plan, 1), options, schedule_of(pool));
      ModelInTraining cuda(there, std::span(&plan, 1), options, schedule_of(pool));
      for (int step = 0; step < 20; ++step) {
        cpu.step();
        cuda.step();
        const double expected = cpu.take_mean_losses()[0];
        ASSERT_NEAR(cuda.take_mean_losses()[0], expected, 1e-3 * expected)
            << kind->name << " pool " << pool << " step " << step;
      }
    }
  }
}

// Of vectors that are quantised after propagation, at another rate, over few steps: the vectors of
// both devices differ in their last bits, and now and then one of them falls on another level.
TEST_F(GpuTraining, LossesOfQuantisedVectorsAgreeWithTheCpus) {
  const Split split = test::toy_split(600, 200, 12'000);
  const Graph here = make_graph(split, TrainingPart::kTrain);
  const Graph there = here.to(gpu());
  for (const Precision precision : {Precision::kInt8, Precision::kInt2}) {
    const SizePlan plan =
        test::toy_plan(split, 24).with_precision(precision).with_form(StoredForm::kVectors);
    ModelOptions options;
    options.losses = {{LossKind::kSoftmax, 0.5, ScoreKind::kDot, 2}};
    ModelInTraining cpu(here, std::span(&plan, 1), options, schedule_of(kPool));
    ModelInTraining cuda(there, std::span(&plan, 1), options, schedule_of(kPool));
    for (int step = 0; step < 20; ++step) {
      cpu.step();
      cuda.step();
      const double expected = cpu.take_mean_losses()[0];
      ASSERT_NEAR(cuda.take_mean_losses()[0], expected, 5e-3 * expected)
          << precision_name(precision) << " step " << step;
    }
  }
}

TEST_F(GpuTraining, MetricsAgreeWithTheCpus) {
  const Split split = test::toy_split(600, 200, 12'000);
  const Graph here = make_graph(split, TrainingPart::kTrain);
  const Graph there = here.to(gpu());
  const std::vector<SizePlan> plans = {test::toy_plan(split, 24), test::toy_plan(split, 7)};
  const auto cpu = train_to_convergence({split, here, {}, schedule_of(kPool), {}}, plans);
  const auto cuda = train_to_convergence({split, there, {}, schedule_of(kPool), {}}, plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_NEAR(cuda[i].validation.score(), cpu[i].validation.score(), 0.005);
    EXPECT_TRUE(cuda[i].table.values.is_cpu());
  }
}

TEST_F(GpuTraining, SameSeedSameBits) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain).to(gpu());
  const SizePlan plan = test::toy_plan(split, 12);
  for (const std::uint32_t pool : {1U, kPool}) {
    const auto run = [&] {
      return train_steps({split, graph, {}, schedule_of(pool).of_length(60), {}},
                         std::span(&plan, 1))[0]
          .table.values;
    };
    EXPECT_TRUE(torch::equal(run(), run()));
  }
}

TEST_F(GpuTraining, ResumesToTheSameBits) {
  const Split split = test::toy_split();
  const SizePlan plan = test::toy_plan(split, 12);
  RetrainingOptions options;
  options.schedule = schedule_of(kPool);
  options.device = gpu();
  const TempFolder whole_folder;
  const RetrainingResult whole = retrain_plan(split, plan, options, {}, {whole_folder.path(), "x"});
  for (const std::uint64_t stop_at : {std::uint64_t{30}, whole.train_steps + 10}) {
    const TempFolder folder;
    std::uint64_t steps = 0;
    TrainingHooks dies;
    dies.save_seconds = 0;
    dies.stop = [&]() -> bool {
      if (++steps == stop_at) throw Error("killed");
      return false;
    };
    EXPECT_THROW(retrain_plan(split, plan, options, dies, {folder.path(), "x"}), Error);
    const RetrainingResult resumed =
        retrain_plan(split, plan, options, {}, {folder.path(), "x", true});
    EXPECT_TRUE(torch::equal(resumed.table.values, whole.table.values));
    EXPECT_EQ(resumed.test.score(), whole.test.score());
  }
}

TEST_F(GpuTraining, ALossThatIsNoNumberNamesItsStep) {
  const Split split = test::toy_split();
  const SizePlan plan = test::toy_plan(split, 12);
  Schedule schedule = schedule_of(1);
  schedule.learning_rate = 1e30;
  const auto error = [&](const at::Device& device) {
    const Graph graph = make_graph(split, TrainingPart::kTrain).to(device);
    return test::error_of([&] {
      train_steps({split, graph, {}, schedule, {}}, std::span(&plan, 1));
    });
  };
  EXPECT_EQ(error(gpu()).substr(0, 22), error(at::kCPU).substr(0, 22));
}

TEST_F(GpuTraining, TooLittleMemoryIsSaidWithTheSizesBeforeAnythingIsLost) {
  const TempFolder folder;
  const Split split = test::toy_split();
  RetrainingOptions options;
  options.schedule = schedule_of(1);
  options.schedule.batch_size = 1U << 28;
  options.device = gpu();
  const std::string error = test::error_of([&] {
    retrain_plan(split, test::toy_plan(split, 100), options, {}, {folder.path(), "x"});
  });
  EXPECT_NE(error.find("out of memory on "), std::string::npos) << error;
  EXPECT_NE(error.find(" MB are free"), std::string::npos) << error;
}

}  // namespace
}  // namespace bet
