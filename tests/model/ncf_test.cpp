#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/backbone.h"
#include "support/training_step.h"

namespace bet {
namespace {

using test::TrainingStep;

constexpr std::uint32_t kDim = 30;  // hidden units to the last of their columns but two

struct Case {
  std::uint32_t width;
  std::uint32_t pool;
  std::uint32_t batch;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.width << " " << c.pool << " " << c.batch;
  }
};

// A model with weights of both signs and a bias.
struct Model {
  ModelOptions options;
  std::unique_ptr<Backbone> backbone;
  ModelParameters table;

  Model(const TrainingStep& step, std::uint32_t width) {
    torch::manual_seed(3);
    options.backbone = "ncf";
    options.dim = kDim;
    backbone = make_backbone(options, step.graph);
    const SizePlan plan = test::toy_plan(step.split, width, 2);
    table = backbone->initial(std::span(&plan, 1), 7);
    table.values.mul_(5);
    for (const NamedWeights& named : backbone->named_weights(table)) {
      if (named.name == "hidden.bias") at::Tensor(named.values).normal_(0, 0.1);
    }
  }

  std::vector<NamedWeights> weights_in_double() const {
    std::vector<NamedWeights> weights = backbone->named_weights(table);
    for (NamedWeights& named : weights) {
      named.values = named.values.to(torch::kDouble).detach().clone().requires_grad_(true);
    }
    return weights;
  }
};

// NeuMF pair by pair, with LibTorch's own operators: GMF's product, MLP of the
// concatenation, one linear head over both.
TrainingStep::Score plain_score(const torch::Tensor& table, const std::vector<NamedWeights>& w,
                                std::int64_t size) {
  const torch::Tensor products = table.slice(1, 0, 2 * size, 2);
  const torch::Tensor hidden = table.slice(1, 1, 2 * size, 2);
  const torch::Tensor layer = torch::cat({w[0].values, w[1].values});
  const torch::Tensor head = torch::cat({w[3].values, w[4].values}, 1);
  const torch::Tensor& bias = w[2].values;
  return [=](const torch::Tensor& users, const torch::Tensor& items) {
    const torch::Tensor gmf = products.index_select(0, users) * products.index_select(0, items);
    const torch::Tensor joined =
        torch::cat({hidden.index_select(0, users), hidden.index_select(0, items)}, 1);
    const torch::Tensor mlp = torch::relu(joined.matmul(layer) + bias);
    return torch::cat({gmf, mlp}, 1).matmul(head.t()).squeeze(1);
  };
}

class Ncf : public testing::TestWithParam<Case> {};

TEST_P(Ncf, LossAndGradientsMatchLibTorchsOwnOperators) {
  const Case& c = GetParam();
  const TrainingStep step(BatchKind::kUsers, c.pool, c.batch);
  const Model model(step, c.width);
  ModelParameters ours = model.table;
  ours.values = model.table.values.clone().requires_grad_(true);
  ours.weights = model.table.weights.clone().requires_grad_(true);
  const torch::Tensor loss =
      model.backbone->loss(ours, {executor_for(at::kCPU), step.batch, nullptr});
  (2 * loss).sum().backward();

  const std::vector<NamedWeights> plain = model.weights_in_double();
  torch::Tensor dense = model.table.values.to(torch::kDouble).clone().requires_grad_(true);
  const torch::Tensor expected = step.loss(plain_score(dense, plain, c.width));
  (2 * expected).backward();

  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5);
  const torch::Tensor mask = test::mask_of(model.table);
  test::expect_same_gradient(ours.values.grad() * mask, dense.grad() * mask, 1e-4);
  ModelParameters gradients = model.table;
  gradients.weights = ours.weights.grad().clone();
  const std::vector<NamedWeights> weights = model.backbone->named_weights(gradients);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    SCOPED_TRACE(weights[i].name);
    test::expect_same_gradient(weights[i].values, plain[i].values.grad(), 1e-4);
    at::Tensor(weights[i].values).zero_();
  }
  EXPECT_EQ(gradients.weights.abs().max().item<float>(), 0.0F) << "padding has no gradient";
}

// Batches of fewer and of more slots than rows take different ways.
INSTANTIATE_TEST_SUITE_P(Cases, Ncf,
                         testing::Values(Case{6, 1, 40}, Case{6, 1, 90}, Case{6, kPool, 90},
                                         Case{30, 1, 40}, Case{13, kPool, 40}, Case{30, kPool, 90}),
                         [](const auto& test) {
                           return std::to_string(test.param.width) + "_" +
                                  std::to_string(test.param.pool) + "_" +
                                  std::to_string(test.param.batch);
                         });

TEST(NcfRanking, EqualsTheNaivePairwiseScoresOn100Users) {
  const TrainingStep step;
  const Model model(step, 30);
  const Ranking ranking = model.backbone->ranking(model.table);
  std::vector<UserId> users(100);
  std::iota(users.begin(), users.end(), 0U);
  constexpr std::uint32_t kTop = 20;
  const std::vector<ItemId> ranked =
      executor_for(at::kCPU).top_items(ranking.vectors, ranking.models[0], users, step.graph, kTop);

  const c10::AutoGradMode no_gradient(false);
  const auto score =
      plain_score(model.table.values.to(torch::kDouble), model.weights_in_double(), 30);
  const torch::Tensor items =
      torch::arange(std::int64_t{step.graph.num_users}, step.graph.num_nodes(), torch::kLong);
  for (const UserId user : users) {
    torch::Tensor scores = score(torch::full_like(items, static_cast<std::int64_t>(user)), items);
    for (const ItemId item : step.split.train(user)) {
      scores[item] = -std::numeric_limits<double>::infinity();
    }
    const torch::Tensor best = std::get<0>(scores.topk(kTop));
    for (std::uint32_t position = 0; position < kTop; ++position) {
      const ItemId item = ranked[user * kTop + position];
      if (!std::isfinite(best[position].item<double>())) break;
      ASSERT_LT(item, step.graph.num_items);
      EXPECT_NEAR(scores[item].item<double>(), best[position].item<double>(), 1e-6)
          << "user " << user << " position " << position;
    }
  }
}

// Two plans side by side are what each is alone.
TEST(NcfLoss, OfSeveralPlansIsThatOfEach) {
  const TrainingStep step;
  ModelOptions options;
  options.backbone = "ncf";
  options.dim = kDim;
  const auto backbone = make_backbone(options, step.graph);
  const std::vector<SizePlan> plans = {test::toy_plan(step.split, 5, 2),
                                       test::toy_plan(step.split, 17, 2)};
  const auto loss_of = [&](std::span<const SizePlan> of) {
    const ModelParameters table = backbone->initial(of, 7);
    return backbone->loss(table, {executor_for(at::kCPU), step.batch, nullptr});
  };
  const torch::Tensor joined = loss_of(plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_FLOAT_EQ(joined[static_cast<std::int64_t>(i)].item<float>(),
                    loss_of(std::span(plans).subspan(i, 1)).item<float>());
  }
}

}  // namespace
}  // namespace bet
