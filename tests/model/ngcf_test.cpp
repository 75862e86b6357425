#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/random.h"
#include "kernels/dropout.h"
#include "model/backbone.h"
#include "support/training_step.h"

namespace bet {
namespace {

using test::TrainingStep;

constexpr std::uint32_t kDim = 20;
constexpr double kShare = 0.1;

// 0, or one over the share that is kept, by row and column.
torch::Tensor dropout_mask(std::int64_t rows, std::int64_t columns, std::uint32_t purpose,
                           const StepRecord& record, std::uint64_t seed) {
  const auto key = stream_key(seed, "dropout");
  const Dropout drop = {
      static_cast<std::uint32_t>(kShare * 0x1p32), {key[0], key[1]}, purpose, &record};
  torch::Tensor mask = torch::zeros({rows, columns}, torch::kDouble);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint32_t word =
        drop_row(drop_key(drop, record.steps), static_cast<std::uint32_t>(row));
    for (std::int64_t column = 0; column < columns; ++column) {
      if (!is_dropped(drop, word, static_cast<std::uint32_t>(column))) {
        mask[row][column] = 1.0 / (1.0 - kShare);
      }
    }
  }
  return mask;
}

// NGCF with LibTorch's own operators, in double. With a record: dropout of its step.
torch::Tensor plain_vectors(const TrainingStep& step, const torch::Tensor& table,
                            const std::vector<NamedWeights>& weights, const StepRecord* record,
                            std::uint64_t seed) {
  const std::int64_t nodes = table.size(0);
  torch::Tensor a = step.dense_adjacency() + torch::eye(nodes, torch::kDouble);
  a = a / a.sum(1, true);
  if (record != nullptr) a = a * dropout_mask(nodes, nodes, 0, *record, seed);
  torch::Tensor e = table;
  std::vector<torch::Tensor> parts = {e};
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    const torch::Tensor& both = weights[2 * layer].values;
    const torch::Tensor& bias = weights[2 * layer + 1].values;
    const torch::Tensor s = a.matmul(e);
    e = torch::leaky_relu(s.matmul(both[0]) + (e * s).matmul(both[1]) + bias, 0.2);
    if (record != nullptr) e = e * dropout_mask(nodes, e.size(1), layer + 1, *record, seed);
    parts.push_back(
        torch::nn::functional::normalize(e, torch::nn::functional::NormalizeFuncOptions().dim(1)));
  }
  return torch::cat(parts, 1);
}

struct Case {
  std::uint32_t width;
  std::uint32_t pool;
  bool drops;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.width << " " << c.pool << " " << c.drops;
  }
};

class Ngcf : public testing::TestWithParam<Case> {};

ModelOptions options_of_ngcf() {
  ModelOptions options;
  options.backbone = "ngcf";
  options.dim = kDim;
  return options;
}

TEST_P(Ngcf, LossAndGradientsMatchLibTorchsOwnOperators) {
  torch::manual_seed(3);
  const Case& c = GetParam();
  const TrainingStep step(BatchKind::kUsers, c.pool);
  const ModelOptions options = options_of_ngcf();
  const auto backbone = make_backbone(options, step.graph);
  const SizePlan plan = test::toy_plan(step.split, c.width);
  ModelParameters table = backbone->initial(std::span(&plan, 1), 7);
  table.values.mul_(30);  // so that layers differ
  table.weights.add_(torch::randn_like(table.weights).mul(0.1) * table.weights.ne(0));
  for (const NamedWeights& named : backbone->named_weights(table)) {
    if (named.name.ends_with("bias")) at::Tensor(named.values).normal_(0, 0.1);
  }
  const StepRecord record = {.steps = 3};
  const StepRecord* const dropping = c.drops ? &record : nullptr;

  ModelParameters ours = table;
  ours.values = table.values.clone().requires_grad_(true);
  ours.weights = table.weights.clone().requires_grad_(true);
  const torch::Tensor loss = backbone->loss(ours, {executor_for(at::kCPU), step.batch, dropping});
  loss.backward();

  std::vector<NamedWeights> plain = backbone->named_weights(table);
  for (NamedWeights& named : plain) {
    named.values = named.values.to(torch::kDouble).detach().clone().requires_grad_(true);
  }
  torch::Tensor dense =
      table.values.slice(1, 0, c.width).to(torch::kDouble).clone().requires_grad_(true);
  const torch::Tensor expected =
      step.loss(test::dot_score(plain_vectors(step, dense, plain, dropping, options.seed)));
  expected.backward();

  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5);
  test::expect_same_gradient((ours.values.grad() * test::mask_of(table)).slice(1, 0, c.width),
                             dense.grad() * test::mask_of(table).slice(1, 0, c.width), 1e-4);
  ModelParameters gradients = table;
  gradients.weights = ours.weights.grad();
  const std::vector<NamedWeights> weights = backbone->named_weights(gradients);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    SCOPED_TRACE(weights[i].name);
    test::expect_same_gradient(weights[i].values, plain[i].values.grad(), 1e-4);
  }
  // Padding has no gradient, so it stays zero.
  torch::Tensor padding = ours.weights.grad().clone();
  ModelParameters rest = table;
  rest.weights = padding;
  for (const NamedWeights& named : backbone->named_weights(rest)) at::Tensor(named.values).zero_();
  EXPECT_EQ(padding.abs().max().item<float>(), 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Cases, Ngcf,
                         testing::Values(Case{6, 1, false}, Case{6, 1, true}, Case{20, 1, true},
                                         Case{13, kPool, true}, Case{20, kPool, false}),
                         [](const auto& test) {
                           return std::to_string(test.param.width) + "_" +
                                  std::to_string(test.param.pool) +
                                  (test.param.drops ? "_drops" : "");
                         });

TEST(NgcfRanking, DropsNothing) {
  const TrainingStep step;
  const auto backbone = make_backbone(options_of_ngcf(), step.graph);
  const SizePlan plan = test::toy_plan(step.split, 20);
  const ModelParameters table = backbone->initial(std::span(&plan, 1), 7);
  std::vector<NamedWeights> plain = backbone->named_weights(table);
  for (NamedWeights& named : plain) named.values = named.values.to(torch::kDouble);
  const torch::Tensor expected =
      plain_vectors(step, table.values.slice(1, 0, 20).to(torch::kDouble), plain, nullptr, 1);
  const Ranking ranking = backbone->ranking(table);
  const torch::Tensor scores = ranking.vectors.matmul(ranking.vectors.t()).to(torch::kDouble);
  EXPECT_LT((scores - expected.matmul(expected.t())).abs().max().item<double>(), 1e-5);
  EXPECT_TRUE(torch::equal(ranking.vectors, backbone->ranking(table).vectors));
}

TEST(NgcfDropout, DropsTheStatedShareAnewInEachStep) {
  const StepRecord first = {.steps = 0};
  const StepRecord second = {.steps = 1};
  const torch::Tensor edges = dropout_mask(500, 500, 0, first, 1);
  EXPECT_NEAR(edges.eq(0).to(torch::kDouble).mean().item<double>(), kShare, 0.005);
  const auto both_dropped = [&](const torch::Tensor& other) {
    return (edges.eq(0) & other.eq(0)).to(torch::kDouble).mean().item<double>();
  };
  EXPECT_NEAR(both_dropped(dropout_mask(500, 500, 0, second, 1)), kShare * kShare, 0.003);
  EXPECT_NEAR(both_dropped(dropout_mask(500, 500, 1, first, 1)), kShare * kShare, 0.003);
  EXPECT_NEAR(both_dropped(dropout_mask(500, 500, 0, first, 2)), kShare * kShare, 0.003);
  EXPECT_NEAR(both_dropped(edges.t()), kShare * kShare, 0.003);
}

// Two plans side by side are what each is alone.
TEST(NgcfLoss, OfSeveralPlansIsThatOfEach) {
  const TrainingStep step;
  const auto backbone = make_backbone(options_of_ngcf(), step.graph);
  const std::vector<SizePlan> plans = {test::toy_plan(step.split, 5),
                                       test::toy_plan(step.split, 17)};
  const StepRecord record;
  const auto loss_and_gradient = [&](std::span<const SizePlan> of) {
    ModelParameters table = backbone->initial(of, 7);
    table.values.set_requires_grad(true);
    table.weights.set_requires_grad(true);
    const torch::Tensor loss = backbone->loss(table, {executor_for(at::kCPU), step.batch, &record});
    loss.sum().backward();
    return std::tuple(loss.detach(), table.values.grad(), table.weights.grad(), table.models);
  };
  const auto joined = loss_and_gradient(plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto alone = loss_and_gradient(std::span(plans).subspan(i, 1));
    const auto index = static_cast<std::int64_t>(i);
    EXPECT_FLOAT_EQ(std::get<0>(joined)[index].item<float>(), std::get<0>(alone).item<float>());
    const ModelColumns& columns = std::get<3>(joined)[i];
    EXPECT_TRUE(torch::allclose(
        std::get<1>(joined).slice(1, columns.first, columns.first + row_stride(columns.width)),
        std::get<1>(alone)));
    EXPECT_TRUE(torch::allclose(std::get<2>(joined)[index], std::get<2>(alone)[0]));
  }
}

}  // namespace
}  // namespace bet
