#include "model/pair_scores.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include "model/backbone.h"
#include "support/toy_data.h"

namespace bet {
namespace {

// The order of all items by these scores must be the ranking that evaluation sees.
void expect_ranked_alike(const std::string& backbone) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  ModelOptions options;
  options.backbone = backbone;
  options.dim = 12;
  const SizePlan plan = test::toy_plan(split, 12, find_backbone(backbone).tables);
  const std::unique_ptr<Backbone> model = make_backbone(options, graph);
  ModelParameters table = model->initial(std::span(&plan, 1), 3);
  table.values.mul_(20);  // so that hidden units and products both matter
  const Ranking ranking = model->ranking(table);
  constexpr std::uint32_t kBest = 20;
  const std::vector<UserId> users = {0, 7, 50};
  const std::vector<ItemId> best =
      executor_for(at::kCPU).top_items(ranking.vectors, ranking.models[0], users, graph, kBest);
  std::vector<std::int32_t> user_rows;
  std::vector<std::int32_t> item_rows;
  for (std::size_t i = 0; i < best.size(); ++i) {
    user_rows.push_back(static_cast<std::int32_t>(users[i / kBest]));
    item_rows.push_back(static_cast<std::int32_t>(graph.num_users + best[i]));
  }
  const auto tensor = [](std::vector<std::int32_t>& rows) {
    return at::from_blob(rows.data(), {static_cast<std::int64_t>(rows.size())}, at::kInt);
  };
  const at::Tensor scores =
      pair_scores(ranking.vectors, ranking.models[0], tensor(user_rows), tensor(item_rows))
          .view({-1, kBest});
  const at::Tensor falls = scores.slice(1, 0, kBest - 1) - scores.slice(1, 1);
  EXPECT_GE(falls.min().item<float>(), -1e-5F) << backbone;
  EXPECT_GT((scores.select(1, 0) - scores.select(1, kBest - 1)).min().item<float>(), 1e-3F)
      << backbone << ": nothing was tested";
}

TEST(PairScores, FallAlongTheRanking) {
  for (const char* backbone : {"lightgcn", "ngcf", "ncf"}) expect_ranked_alike(backbone);
}

// Two rows by hand: columns 1 and 2 are multiplied, 3 is a positive unit, 4 a negative one.
TEST(PairScores, AreWorkedOutByHand) {
  float values[] = {9, 2, 3, 1, -1, 0, 0, 0, 9, 5, -1, -3, 4, 0, 0, 0, 9, 1, 1, 2, -5, 0, 0, 0};
  std::int32_t users[] = {0, 0};
  std::int32_t items[] = {1, 2};
  Scoring scoring(1, 2);
  scoring.first_hidden = 3;
  scoring.num_positive = 1;
  scoring.num_negative = 1;
  const at::Tensor scores =
      pair_scores(at::from_blob(values, {3, 8}, at::kFloat), scoring,
                  at::from_blob(users, {2}, at::kInt), at::from_blob(items, {2}, at::kInt));
  EXPECT_EQ(scores[0].item<float>(), 10 - 3 + 0 - 3);  // max(1 - 3, 0) - max(-1 + 4, 0)
  EXPECT_EQ(scores[1].item<float>(), 2 + 3 + 3 - 0);
}

}  // namespace
}  // namespace bet
