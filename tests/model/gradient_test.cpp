#include <gtest/gtest.h>
#include <torch/torch.h>

#include "kernels/kernels.h"
#include "model/backbone.h"
#include "model/bpr_loss.h"
#include "model/row_adam.h"
#include "support/toy_data.h"
#include "train/triple_sampler.h"

namespace bet {
namespace {

// Everything that a step needs, on a toy graph.
struct Step {
  Split split = test::toy_split();
  Graph graph = make_graph(split, TrainingPart::kTrain);
  TripleBatch batch;
  BatchEntries entries;

  explicit Step(BatchKind kind = BatchKind::kUsers) {
    batch.resize(90);
    TripleSampler(graph, 1).draw(0, kind, batch);
    entries.build(batch, static_cast<std::uint32_t>(graph.num_nodes()));
  }

  // The normalised adjacency as a dense matrix in double.
  torch::Tensor dense_adjacency() const {
    const auto nodes = graph.num_nodes();
    torch::Tensor dense = torch::zeros({nodes, nodes}, torch::kDouble);
    const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
    const auto* columns = graph.columns.data_ptr<std::int32_t>();
    for (std::int64_t row = 0; row < nodes; ++row) {
      for (std::int64_t e = offsets[row]; e < offsets[row + 1]; ++e) {
        const double degrees = static_cast<double>(offsets[row + 1] - offsets[row]) *
                               static_cast<double>(offsets[columns[e] + 1] - offsets[columns[e]]);
        dense[row][columns[e]] = 1.0 / std::sqrt(degrees);
      }
    }
    return dense;
  }

  static torch::Tensor rows(const torch::Tensor& table, const std::vector<std::uint32_t>& ids) {
    std::vector<std::int64_t> wide(ids.begin(), ids.end());
    return table.index_select(0, torch::tensor(wide));
  }

  // The obvious model: dense products and LibTorch's own operators, in double.
  torch::Tensor dense_loss(const torch::Tensor& table, const std::string& backbone,
                           double l2) const {
    torch::Tensor vectors = table;
    if (backbone == "lightgcn") {
      const torch::Tensor a = dense_adjacency();
      const torch::Tensor one = a.matmul(table);
      const torch::Tensor two = a.matmul(one);
      vectors = (table + one + two + a.matmul(two)) / 4;
    }
    const torch::Tensor u = rows(vectors, batch.users);
    const torch::Tensor difference =
        (u * (rows(vectors, batch.negatives) - rows(vectors, batch.positives))).sum(1);
    torch::Tensor squares = rows(table, batch.users).pow(2).sum() +
                            rows(table, batch.positives).pow(2).sum() +
                            rows(table, batch.negatives).pow(2).sum();
    return torch::softplus(difference).mean() + l2 * squares / static_cast<double>(batch.size());
  }
};

torch::Tensor mask_of(const MaskedTable& table) {
  const torch::Tensor columns = torch::arange(table.values.size(1));
  return columns.unsqueeze(0) < table.sizes.to(torch::kLong).unsqueeze(1);
}

struct Case {
  std::string backbone;
  std::uint32_t width;
  BatchKind kind;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.backbone << " " << c.width;
  }
};

class Gradient : public testing::TestWithParam<Case> {};

TEST_P(Gradient, MatchesLibTorchOnTheDenseMaskedModel) {
  const Case& c = GetParam();
  const Step step(c.kind);
  MaskedTable table = make_table(test::toy_plan(step.split, c.width), 7, 0.3);
  const auto backbone = make_backbone(c.backbone, step.graph, RowPrecision::kFloat32);
  const torch::Tensor loss =
      bpr_loss(backbone->vectors(table, &step.entries.row_count), step.batch, step.entries);
  loss.backward();

  torch::Tensor dense = table.values.detach().to(torch::kDouble).requires_grad_(true);
  const torch::Tensor expected = step.dense_loss(dense, c.backbone, 0.0);
  expected.backward();
  EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-6);
  const torch::Tensor difference =
      ((table.values.grad().to(torch::kDouble) - dense.grad()) * mask_of(table)).abs();
  const double largest = dense.grad().abs().max().item<double>();
  EXPECT_GT(largest, 1e-4) << "there is a gradient to compare";
  EXPECT_LT(difference.max().item<double>(), 1e-5 * largest);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Gradient,
    testing::Values(Case{"mf", 6, BatchKind::kUsers}, Case{"mf", 33, BatchKind::kInteractions},
                    Case{"lightgcn", 6, BatchKind::kUsers}, Case{"lightgcn", 40, BatchKind::kUsers},
                    Case{"lightgcn", 128, BatchKind::kInteractions}),
    [](const auto& test) { return test.param.backbone + "_" + std::to_string(test.param.width); });

// The loss moves as its gradient says, along random directions.
TEST(GradientByDifferences, Agrees) {
  const Step step;
  const MaskedTable table = make_table(test::toy_plan(step.split, 12), 7, 0.3);
  const auto loss_at = [&](const torch::Tensor& values) {
    MaskedTable moved = table;
    moved.values = values.clone().set_requires_grad(true);
    const torch::Tensor loss =
        bpr_loss(propagate(moved.values, step.graph), step.batch, step.entries);
    loss.backward();
    return std::pair(loss.item<double>(), moved.values.grad().clone());
  };
  const torch::Tensor start = table.values.detach();
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
  const MaskedTable table = make_table(test::toy_plan(step.split, 20), 7, 0.3);
  const torch::Tensor values = table.values.detach();
  const torch::Tensor exact = propagate(values, step.graph);
  const torch::Tensor near = propagate(values, step.graph, RowPrecision::kBfloat16);
  EXPECT_LT((exact - near).abs().max().item<double>(), 0.01 * exact.abs().max().item<double>());
  EXPECT_GT((exact - near).abs().max().item<double>(), 0.0) << "bf16 was not used";
}

TEST(Propagation, DoesNotDependOnTheNumberOfThreads) {
  const Step step;
  const MaskedTable table = make_table(test::toy_plan(step.split, 20), 7, 0.3);
  const auto run = [&](int threads) {
    torch::set_num_threads(threads);
    MaskedTable fresh = make_table(test::toy_plan(step.split, 20), 7, 0.3);
    const torch::Tensor loss =
        bpr_loss(propagate(fresh.values, step.graph), step.batch, step.entries);
    loss.backward();
    return std::pair(loss.item<float>(), fresh.values.grad().clone());
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
  MaskedTable table = make_table(test::toy_plan(step.split, 10), 7, 0.3);
  const torch::Tensor mask = mask_of(table).to(torch::kDouble);
  torch::Tensor dense = table.values.detach().to(torch::kDouble).requires_grad_(true);
  torch::optim::Adam optimiser({dense}, torch::optim::AdamOptions(0.03));
  RowAdam adam(table);
  for (int i = 0; i < 10; ++i) {
    table.values.mutable_grad() = torch::Tensor();
    bpr_loss(propagate(table.values, step.graph), step.batch, step.entries).backward();
    adam.step(table, 0.03F, step.entries.row_count,
              static_cast<float>(2 * kL2 / static_cast<double>(step.batch.size())));
    optimiser.zero_grad();
    step.dense_loss(dense * mask, "lightgcn", kL2).backward();
    optimiser.step();
  }
  EXPECT_LT((table.values.detach().to(torch::kDouble) - dense * mask).abs().max().item<double>(),
            2e-4);
  EXPECT_EQ((table.values.detach().to(torch::kDouble) * (1 - mask)).abs().max().item<double>(), 0.0)
      << "a masked entry moved";
}

TEST(MaskedTable, ANarrowPlanStartsAsThePrefixOfAWideOne) {
  const TableShape shape{30, 20, 128, 1};
  const MaskedTable wide = make_table(full_plan(shape), 3);
  const MaskedTable narrow = make_table(equal_plan(shape, shape.num_rows() * 7), 3);
  EXPECT_EQ(narrow.values.size(1), 8) << "no wider than it must be";
  EXPECT_TRUE(
      torch::equal(wide.values.detach().slice(1, 0, 7), narrow.values.detach().slice(1, 0, 7)));
  EXPECT_NEAR(wide.values.detach().std().item<double>(), 0.01, 5e-4);
  EXPECT_FALSE(torch::equal(wide.values.detach(), make_table(full_plan(shape), 4).values.detach()));
}

}  // namespace
}  // namespace bet
