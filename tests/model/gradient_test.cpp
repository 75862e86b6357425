#include <gtest/gtest.h>
#include <torch/torch.h>

#include "kernels/kernels.h"
#include "model/backbone.h"
#include "model/batch_loss.h"
#include "model/row_adam.h"
#include "support/training_step.h"

namespace bet {
namespace {

using test::mask_of;
using Step = test::TrainingStep;

// The obvious model: dense products and LibTorch's own operators, in double.
torch::Tensor dense_loss(const Step& step, const torch::Tensor& table, const std::string& backbone,
                         double l2, const LossOptions& options = {}) {
  torch::Tensor vectors = table;
  if (backbone == "lightgcn") {
    const torch::Tensor adjacency = step.dense_adjacency();
    const torch::Tensor root = adjacency.sum(1).pow(-0.5);
    const torch::Tensor a = adjacency * (root.unsqueeze(0) * root.unsqueeze(1)).nan_to_num(0, 0, 0);
    const torch::Tensor one = a.matmul(table);
    const torch::Tensor two = a.matmul(one);
    vectors = (table + one + two + a.matmul(two)) / 4;
  }
  if (options.score == ScoreKind::kCosine) {
    vectors = vectors / vectors.norm(2, 1, true).clamp_min(1e-30);
  }
  return step.loss(test::dot_score(vectors), options) + l2 * step.squares(table);
}

struct Case {
  std::string backbone;
  std::uint32_t width;
  BatchKind kind;
  std::uint32_t pool;
  LossOptions loss = {};

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.backbone << " " << c.width << " " << c.pool;
  }
};

class Gradient : public testing::TestWithParam<Case> {};

TEST_P(Gradient, MatchesLibTorchOnTheDenseMaskedModel) {
  const Case& c = GetParam();
  const Step step(c.kind, c.pool);
  const ModelParameters table = make_table(test::toy_plan(step.split, c.width), 7, 0.3);
  const torch::Tensor values = table.values.clone().requires_grad_(true);
  ModelOptions options;
  options.backbone = c.backbone;
  options.losses = {c.loss};
  const auto backbone = make_backbone(options, step.graph);
  ModelParameters parameters = table;
  parameters.values = values;
  const torch::Tensor loss =
      backbone->loss(parameters, {executor_for(at::kCPU), step.batch, nullptr});
  loss.backward();

  torch::Tensor dense = table.values.to(torch::kDouble).requires_grad_(true);
  const torch::Tensor expected = dense_loss(step, dense, c.backbone, 0.0, c.loss);
  expected.backward();
  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-6);
  const torch::Tensor difference =
      ((values.grad().to(torch::kDouble) - dense.grad()) * mask_of(table)).abs();
  const double largest = dense.grad().abs().max().item<double>();
  EXPECT_GT(largest, 1e-4) << "there is a gradient to compare";
  EXPECT_LT(difference.max().item<double>(), 1e-5 * largest);
}

constexpr LossOptions kSoftmax = {LossKind::kSoftmax, 0.4};
constexpr LossOptions kCosines = {LossKind::kSoftmax, 0.2, ScoreKind::kCosine};
constexpr LossOptions kBprOfCosines = {LossKind::kBpr, 1, ScoreKind::kCosine};

INSTANTIATE_TEST_SUITE_P(Cases, Gradient,
                         testing::Values(Case{"mf", 6, BatchKind::kUsers, 1},
                                         Case{"mf", 33, BatchKind::kInteractions, 1},
                                         Case{"mf", 20, BatchKind::kUsers, kPool},
                                         Case{"lightgcn", 6, BatchKind::kUsers, 1},
                                         Case{"lightgcn", 40, BatchKind::kUsers, 1},
                                         Case{"lightgcn", 128, BatchKind::kInteractions, 1},
                                         Case{"lightgcn", 8, BatchKind::kUsers, kPool},
                                         Case{"lightgcn", 50, BatchKind::kInteractions, kPool},
                                         Case{"mf", 20, BatchKind::kUsers, 64},
                                         Case{"mf", 20, BatchKind::kUsers, 64, kSoftmax},
                                         Case{"mf", 6, BatchKind::kUsers, kPool, kCosines},
                                         Case{"mf", 6, BatchKind::kUsers, 1, kBprOfCosines},
                                         Case{"lightgcn", 40, BatchKind::kUsers, 128, kSoftmax},
                                         Case{"lightgcn", 40, BatchKind::kUsers, 64, kCosines}),
                         [](const auto& test) {
                           return test.param.backbone + "_" + std::to_string(test.param.width) +
                                  "_" + std::to_string(test.param.pool) +
                                  (test.param.loss.kind == LossKind::kSoftmax ? "_softmax" : "") +
                                  (test.param.loss.score == ScoreKind::kCosine ? "_cosine" : "");
                         });

const std::vector<LossOptions> kBpr = {LossOptions()};

// The loss moves as its gradient says, along random directions.
TEST(GradientByDifferences, Agrees) {
  const Step step;
  const ModelParameters table = make_table(test::toy_plan(step.split, 12), 7, 0.3);
  const auto loss_at = [&](const torch::Tensor& values) {
    const torch::Tensor moved = values.clone().requires_grad_(true);
    const torch::Tensor loss =
        batch_loss(propagate(moved, step.graph), table.models, step.batch, kBpr);
    loss.backward();
    return std::pair(loss.item<double>(), moved.grad().clone());
  };
  const torch::Tensor start = table.values;
  const torch::Tensor gradient = loss_at(start).second;
  torch::manual_seed(1);
  for (int i = 0; i < 5; ++i) {
    const torch::Tensor direction = torch::randn_like(start) * mask_of(table);
    const double h = 1e-2;
    const double slope =
        (loss_at(start + h * direction).first - loss_at(start - h * direction).first) / (2 * h);
    EXPECT_NEAR(slope, (gradient * direction).sum().item<double>(), 2e-3);
  }
}

TEST(Propagation, InBfloat16IsNear) {
  const Step step;
  const ModelParameters table = make_table(test::toy_plan(step.split, 20), 7, 0.3);
  const torch::Tensor values = table.values;
  const torch::Tensor exact = propagate(values, step.graph);
  const torch::Tensor near = propagate(values, step.graph, RowPrecision::kBfloat16);
  EXPECT_LT((exact - near).abs().max().item<double>(), 0.01 * exact.abs().max().item<double>());
  EXPECT_GT((exact - near).abs().max().item<double>(), 0.0) << "bf16 was not used";
}

TEST(Propagation, DoesNotDependOnTheNumberOfThreads) {
  const Step step;
  const ModelParameters table = make_table(test::toy_plan(step.split, 20), 7, 0.3);
  const auto run = [&](int threads) {
    torch::set_num_threads(threads);
    const torch::Tensor values = table.values.clone().requires_grad_(true);
    const torch::Tensor loss =
        batch_loss(propagate(values, step.graph), table.models, step.batch, kBpr);
    loss.backward();
    return std::pair(loss.item<float>(), values.grad().clone());
  };
  const auto one = run(1);
  const auto three = run(3);
  EXPECT_EQ(one.first, three.first);
  EXPECT_TRUE(torch::equal(one.second, three.second));
}

// Several steps, regulariser included, against torch::optim::Adam on the masked model.
TEST(RowAdam, FollowsLibTorchsAdam) {
  const Step step;
  constexpr double kL2 = 1e-2;
  ModelParameters table = make_table(test::toy_plan(step.split, 10), 7, 0.3);
  const torch::Tensor mask = mask_of(table).to(torch::kDouble);
  torch::Tensor dense = table.values.to(torch::kDouble).requires_grad_(true);
  torch::optim::Adam optimiser({dense}, torch::optim::AdamOptions(0.03));
  constexpr std::uint64_t kSteps = 10;
  RowAdam adam(table, {}, kSteps, [](std::uint64_t) { return 0.03; });
  double dense_losses = 0;
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    const torch::Tensor values = table.values.clone().requires_grad_(true);
    const torch::Tensor loss =
        batch_loss(propagate(values, step.graph), table.models, step.batch, kBpr);
    loss.backward();
    adam.step(table, values.grad(), {&step.batch, kL2}, loss);
    optimiser.zero_grad();
    const torch::Tensor expected = dense_loss(step, dense * mask, "lightgcn", kL2);
    dense_losses += expected.item<double>();
    expected.backward();
    optimiser.step();
  }
  EXPECT_LT((table.values.to(torch::kDouble) - dense * mask).abs().max().item<double>(), 2e-4);
  EXPECT_EQ((table.values.to(torch::kDouble) * (1 - mask)).abs().max().item<double>(), 0.0)
      << "a masked entry moved";
  EXPECT_EQ(adam.records()[0].steps, kSteps);
  EXPECT_NEAR(adam.records()[0].loss_sum, dense_losses, 1e-4 * dense_losses);
}

TEST(ModelParameters, ANarrowPlanStartsAsThePrefixOfAWideOne) {
  const TableShape shape{30, 20, 128, 1};
  const ModelParameters wide = make_table(full_plan(shape), 3);
  const ModelParameters narrow = make_table(equal_plan(shape, shape.num_rows() * 7), 3);
  EXPECT_EQ(narrow.values.size(1), 8) << "no wider than it must be";
  EXPECT_TRUE(torch::equal(wide.values.slice(1, 0, 7), narrow.values.slice(1, 0, 7)));
  EXPECT_NEAR(wide.values.std().item<double>(), 0.01, 5e-4);
  EXPECT_FALSE(torch::equal(wide.values, make_table(full_plan(shape), 4).values));
}

TEST(ModelParameters, PlansSideBySideStartAsTheyWouldAlone) {
  const Split split = test::toy_split();
  const std::vector<SizePlan> plans = {test::toy_plan(split, 5), test::toy_plan(split, 20),
                                       test::toy_plan(split, 9)};
  const ModelParameters joined = make_table(plans, 3);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const ModelParameters alone = make_table(plans[i], 3);
    EXPECT_TRUE(torch::equal(joined.only(i).values, alone.values));
    EXPECT_TRUE(torch::equal(joined.only(i).sizes, alone.sizes));
  }
}

}  // namespace
}  // namespace bet
