#include <torch/torch.h>

#include "model/backbone.h"
#include "model/batch_loss.h"
#include "model/quantised_rows.h"
#include "model/row_adam.h"
#include "model/tensor_pointers.h"
#include "support/gpu.h"
#include "support/neumf_case.h"
#include "support/toy_data.h"
#include "train/batch_sampler.h"
#include "train/evaluator.h"

// Each CUDA kernel beside its CPU twin, which has its own obvious twin in tests/kernels.

namespace bet {
namespace {

using GpuKernels = test::OnGpu;

// Few items, so that some have more neighbours than one warp takes.
const Graph& hub_graph() {
  static const Graph graph =
      make_graph(test::toy_split(3000, 40, 30'000), TrainingPart::kTrainAndValidation);
  return graph;
}

torch::Tensor random_table(std::uint32_t width) {
  torch::Tensor table = torch::zeros({hub_graph().num_nodes(), row_stride(width)});
  table.slice(1, 0, width).normal_(0, 0.3);
  return table;
}

double relative_error(const torch::Tensor& found, const torch::Tensor& expected) {
  const torch::Tensor difference = found.cpu().to(torch::kDouble) - expected.to(torch::kDouble);
  return (difference.norm() / expected.to(torch::kDouble).norm()).item<double>();
}

Batch draw(const Graph& graph, std::uint64_t step, std::uint32_t size, BatchKind kind,
           std::uint32_t pool) {
  Batch batch(size, pool, graph.num_nodes(), graph.device());
  StepRecord record;
  record.steps = step;
  torch::Tensor here = torch::empty({sizeof(record)}, torch::kByte);
  std::memcpy(here.data_ptr(), &record, sizeof(record));
  const torch::Tensor there = here.to(graph.device());
  BatchSampler(graph, 7).draw(static_cast<const StepRecord*>(there.data_ptr()), kind, batch);
  executor_for(graph.device()).wait();
  return batch;
}

TEST_F(GpuKernels, DrawAndGroupTheSameBatches) {
  const Graph graph = hub_graph().to(gpu());
  for (const BatchKind kind : {BatchKind::kUsers, BatchKind::kInteractions}) {
    for (const std::uint32_t pool : {1U, kPool, 128U}) {
      for (const std::uint32_t size : {1U, 70U, 2500U, 7001U}) {
        for (const std::uint64_t step : {0ULL, 5ULL, 1ULL << 33}) {
          const Batch here = draw(hub_graph(), step, size, kind, pool);
          const Batch there = draw(graph, step, size, kind, pool);
          ASSERT_TRUE(torch::equal(here.rows, there.rows.cpu()));
          if (pool > 1) {
            ASSERT_TRUE(torch::equal(here.seen_mask, there.seen_mask.cpu()));
          }
          ASSERT_TRUE(torch::equal(here.offsets, there.offsets.cpu()));
          ASSERT_TRUE(torch::equal(here.touched, there.touched.cpu()));
          ASSERT_TRUE(torch::equal(here.slots.slice(0, 0, here.num_slots()),
                                   there.slots.slice(0, 0, here.num_slots()).cpu()));
        }
      }
    }
  }
}

TEST_F(GpuKernels, PropagateAsTheCpuDoes) {
  torch::manual_seed(1);
  const Graph graph = hub_graph().to(gpu());
  const Batch batch = draw(hub_graph(), 1, 300, BatchKind::kUsers, 1);
  const torch::Tensor touched = batch.touched.to(gpu());
  const torch::Tensor rows = batch.touched.nonzero().view({-1});
  for (const std::uint32_t width : {3U, 8U, 12U, 20U, 33U, 48U, 64U, 96U, 128U, 150U, 300U}) {
    const torch::Tensor here = random_table(width).requires_grad_(true);
    const torch::Tensor there = here.detach().to(gpu()).requires_grad_(true);
    EXPECT_LT(
        relative_error(propagate(there.detach(), graph), propagate(here.detach(), hub_graph())),
        1e-6)
        << "width " << width;
    EXPECT_LT(relative_error(propagate(there.detach(), graph, RowPrecision::kBfloat16),
                             propagate(here.detach(), hub_graph(), RowPrecision::kBfloat16)),
              1e-3)
        << "width " << width;
    // Only the batch's rows are asked for, and only they have a gradient.
    const torch::Tensor out = propagate(here, hub_graph(), RowPrecision::kFloat32, &batch.touched);
    const torch::Tensor gpu_out = propagate(there, graph, RowPrecision::kFloat32, &touched);
    EXPECT_LT(relative_error(gpu_out.detach().index_select(0, rows.to(gpu())),
                             out.detach().index_select(0, rows)),
              1e-6);
    const torch::Tensor gradient =
        random_table(width) * batch.touched.to(torch::kFloat).unsqueeze(1);
    out.backward(gradient);
    gpu_out.backward(gradient.to(gpu()));
    EXPECT_LT(relative_error(there.grad(), here.grad()), 1e-6) << "width " << width;
  }
}

TEST_F(GpuKernels, LossesAndTheirGradientsOfSeveralModels) {
  torch::manual_seed(2);
  const Graph graph = hub_graph().to(gpu());
  const std::vector<ModelColumns> models = {{0, 6}, {8, 40}, {56, 12}, {72, 128}};
  constexpr std::uint32_t kWidth = 200;
  const std::vector<LossOptions> bpr(models.size());
  const std::vector<LossOptions> cosines(models.size(),
                                         {LossKind::kSoftmax, 0.2, ScoreKind::kCosine});
  const std::vector<LossOptions> mixed = {
      {LossKind::kSoftmax, 0.5}, {LossKind::kSoftmax, 2}, {}, {LossKind::kSoftmax, 1}};
  for (const std::uint32_t pool : {1U, kPool, 96U, 128U, 256U, 512U}) {
    for (const auto* losses : {&bpr, &mixed, &cosines}) {
      if (pool == 1 && losses != &bpr) continue;
      for (const std::uint32_t size : {33U, 2000U}) {
        const Batch batch = draw(hub_graph(), 3, size, BatchKind::kUsers, pool);
        const Batch gpu_batch = draw(graph, 3, size, BatchKind::kUsers, pool);
        const torch::Tensor here = random_table(kWidth).requires_grad_(true);
        const torch::Tensor there = here.detach().to(gpu()).requires_grad_(true);
        const torch::Tensor loss = batch_loss(here, models, batch, *losses);
        const torch::Tensor gpu_loss = batch_loss(there, models, gpu_batch, *losses);
        EXPECT_LT(relative_error(gpu_loss.detach(), loss.detach()), 1e-6);
        (loss * 3.0).sum().backward();
        (gpu_loss * 3.0).sum().backward();
        EXPECT_LT(relative_error(there.grad(), here.grad()), 1e-5) << "pool " << pool;
      }
    }
  }
}

TEST_F(GpuKernels, NeuMfTermsAndTheirGradients) {
  torch::manual_seed(6);
  struct Shape {
    std::uint32_t products, hidden;
  };
  for (const Shape& shape : {Shape{8, 8}, {24, 40}, {8, 0}, {0, 40}, {128, 128}, {136, 24}}) {
    for (const std::uint32_t pool : {1U, kPool}) {
      for (const std::uint32_t size : {5U, 33U, 2000U, 4096U}) {
        test::NeuMfCase batch(shape.products, shape.hidden, size, pool);
        if (pool > 1 && size % 2 != 0) batch.kind = LossKind::kSoftmax;
        const test::NeuMfTerms here = test::neumf_terms(batch, torch::kCPU);
        const test::NeuMfTerms there = test::neumf_terms(batch, gpu());
        const test::NeuMfTerms again = test::neumf_terms(batch, gpu());
        EXPECT_LT(relative_error(there.loss, here.loss), 1e-5);
        EXPECT_LT(relative_error(there.contributions, here.contributions), 1e-5);
        EXPECT_LT(relative_error(there.head_gradient, here.head_gradient), 1e-4);
        EXPECT_TRUE(torch::equal(there.contributions, again.contributions));
        EXPECT_TRUE(torch::equal(there.head_gradient, again.head_gradient));
      }
    }
  }
}

TEST_F(GpuKernels, AdamAndItsRecord) {
  const Split split = test::toy_split(3000, 40, 30'000);
  const std::vector<SizePlan> plans = {test::toy_plan(split, 21), test::toy_plan(split, 6)};
  ModelParameters here = make_table(plans, 3, 0.3);
  ModelParameters there = here.to(gpu());
  const Graph graph = hub_graph().to(gpu());
  const auto rate = [](std::uint64_t step) { return 0.1 / (1.0 + static_cast<double>(step)); };
  RowAdam adam(here, {}, 5, rate);
  RowAdam gpu_adam(there, {}, 5, rate);
  const torch::Tensor loss = torch::tensor({0.5F, 0.25F});
  torch::manual_seed(3);
  for (std::uint64_t step = 0; step < 5; ++step) {
    const Batch batch = draw(hub_graph(), step, 500, BatchKind::kUsers, 1);
    const Batch gpu_batch = draw(graph, step, 500, BatchKind::kUsers, 1);
    const torch::Tensor gradient = torch::randn_like(here.values);
    adam.step(here, gradient, {&batch, 1e-2}, loss);
    gpu_adam.step(there, gradient.to(gpu()), {&gpu_batch, 1e-2}, loss.to(gpu()));
  }
  EXPECT_LT(relative_error(there.values, here.values), 1e-6);
  EXPECT_LT(relative_error(gpu_adam.moment2(), adam.moment2()), 1e-6);
  EXPECT_TRUE(torch::equal(there.values.cpu() == 0, here.values == 0)) << "a masked entry moved";
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_EQ(gpu_adam.records()[i].steps, 5U);
    EXPECT_NEAR(gpu_adam.records()[i].loss_sum, adam.records()[i].loss_sum, 1e-5);
  }
}

// Small integers: scores are exact and tie often.
TEST_F(GpuKernels, RankAsTheCpuDoes) {
  torch::manual_seed(4);
  for (const std::uint32_t items : {15U, 700U, 5000U}) {
    const Split split = test::toy_split(90, items, 40U * std::min(items, 30U));
    const Graph here = make_graph(split, TrainingPart::kTrainAndValidation);
    const Graph there = here.to(gpu());
    for (const std::uint32_t width : {6U, 20U}) {
      torch::Tensor vectors = torch::zeros({here.num_nodes(), 8 + row_stride(width)});
      vectors.slice(1, 8, 8 + width)
          .copy_(torch::randint(-2, 3, {here.num_nodes(), static_cast<std::int64_t>(width)}));
      std::vector<UserId> users;
      for (UserId user = 0; user < here.num_users; user += 2) users.push_back(user);
      for (const std::uint32_t k : {1U, 20U, 100U}) {
        EXPECT_EQ(executor_for(gpu()).top_items(vectors.to(gpu()), {8, width}, users, there, k),
                  executor_for(at::kCPU).top_items(vectors, {8, width}, users, here, k))
            << items << " items, width " << width << ", best " << k;
      }
    }
  }
}

TEST_F(GpuKernels, RankHiddenUnitsAsTheCpuDoes) {
  torch::manual_seed(7);
  for (const std::uint32_t items : {15U, 64U, 701U}) {
    const Split split = test::toy_split(150, items, 40U * std::min(items, 30U));
    const Graph here = make_graph(split, TrainingPart::kTrainAndValidation);
    const Graph there = here.to(gpu());
    const torch::Tensor vectors =
        torch::randint(-2, 3, {here.num_nodes(), 64}).to(torch::kFloat);  // exact, with ties
    std::vector<UserId> users;
    for (UserId user = 0; user < here.num_users; user += 2) users.push_back(user);
    Scoring scoring(8, 6);
    scoring.first_hidden = 17;
    for (const std::uint32_t positive : {0U, 5U, 20U}) {
      for (const std::uint32_t negative : {0U, 1U, 19U}) {
        scoring.num_positive = positive;
        scoring.num_negative = negative;
        EXPECT_EQ(executor_for(gpu()).top_items(vectors.to(gpu()), scoring, users, there, 20),
                  executor_for(at::kCPU).top_items(vectors, scoring, users, here, 20))
            << items << " items, hidden units " << positive << " and " << negative;
      }
    }
  }
}

TEST_F(GpuKernels, CountTheSameHits) {
  torch::manual_seed(5);
  const Split split = test::toy_split(3000, 700, 30'000);
  const Graph here = make_graph(split, TrainingPart::kTrain);
  const Graph there = here.to(gpu());
  const torch::Tensor vectors = torch::randint(-2, 3, {here.num_nodes(), 16}).to(torch::kFloat);
  const Metrics cpu = evaluate(vectors, {0, 16}, split, HeldOut::kTest, here);
  const Metrics cuda = evaluate(vectors.to(gpu()), {0, 16}, split, HeldOut::kTest, there);
  EXPECT_GT(cpu.score(), 0);
  EXPECT_EQ(cuda.recall, cpu.recall);
  EXPECT_EQ(cuda.ndcg, cpu.ndcg);
}

// To the bit: what is trained on a GPU is what a file stores.
TEST_F(GpuKernels, QuantiseRowsAsTheCpuDoes) {
  const Graph& graph = hub_graph();
  const TableShape shape{graph.num_users, graph.num_items, 100, 0};
  std::vector<std::uint16_t> sizes(shape.num_rows());
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    sizes[row] = static_cast<std::uint16_t>(row % 101);
  }
  std::vector<SizePlan> plans;
  for (std::size_t p = 0; p < kPrecisionNames.size(); ++p) {
    const TablePrecision precision(static_cast<Precision>(p),
                                   static_cast<Precision>(kPrecisionNames.size() - 1 - p));
    plans.push_back(SizePlan(shape, sizes).with_precision(precision));
  }
  ModelParameters here = make_table(plans, 3);
  // Rows of many magnitudes.
  here.values.mul_(torch::exp(4 * torch::randn({here.num_rows(), 1})));
  EXPECT_TRUE(torch::equal(quantised_rows(here.to(gpu())).cpu(), quantised_rows(here)));
  here.kept = torch::rand_like(here.values).gt(0.4).to(torch::kFloat);
  here.values.mul_(here.kept);
  EXPECT_TRUE(torch::equal(quantised_rows(here.to(gpu())).cpu(), quantised_rows(here)));
}

}  // namespace
}  // namespace bet
