#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/executor.h"
#include "support/toy_data.h"
#include "train/evaluator.h"
#include "train/schedule.h"

namespace bet {
namespace {

TEST(Metrics, AreWorkedOutByHand) {
  // Hits at positions 1, 3 and 12; four held-out items.
  const Metrics metrics = user_metrics(1U << 0 | 1U << 2 | 1U << 11, 4);
  EXPECT_DOUBLE_EQ(metrics.recall[0], 0.5);
  EXPECT_DOUBLE_EQ(metrics.recall[1], 0.5);
  EXPECT_DOUBLE_EQ(metrics.recall[2], 0.75);
  const double ideal = 1 + 1 / std::log2(3.0) + 1 / std::log2(4.0) + 1 / std::log2(5.0);
  EXPECT_NEAR(metrics.ndcg[0], (1 + 0.5) / ideal, 1e-12);
  EXPECT_NEAR(metrics.ndcg[2], (1 + 0.5 + 1 / std::log2(13.0)) / ideal, 1e-12);
  EXPECT_NEAR(metrics.score(),
              (0.5 + 0.5 + 0.75 + 2 * 1.5 / ideal + (1.5 + 1 / std::log2(13.0)) / ideal) / 6,
              1e-12);
}

TEST(Metrics, PerfectAndHopelessLists) {
  EXPECT_DOUBLE_EQ(user_metrics(1, 1).score(), 1.0);
  EXPECT_DOUBLE_EQ(user_metrics(0, 1).score(), 0.0);
  // More held-out items than positions: the ideal is cut at k, recall is not.
  EXPECT_DOUBLE_EQ(user_metrics((1U << 20) - 1, 40).ndcg[2], 1.0);
  EXPECT_DOUBLE_EQ(user_metrics((1U << 20) - 1, 40).recall[2], 0.5);
}

// Against scores of all pairs, sorted.
TEST(TopItems, EqualTheSortedScores) {
  torch::manual_seed(3);
  const Split split = test::toy_split(45, 70, 600);
  const Graph graph = make_graph(split, TrainingPart::kTrainAndValidation);
  for (const std::uint32_t width : {6U, 20U}) {
    torch::Tensor vectors =
        torch::zeros({graph.num_nodes(), static_cast<std::int64_t>((width + 15) / 16 * 16)});
    if (width <= 8) vectors = torch::zeros({graph.num_nodes(), 8});
    // Small integers: scores are exact and tie often.
    vectors.slice(1, 0, width)
        .copy_(torch::randint(-2, 3, {graph.num_nodes(), static_cast<std::int64_t>(width)}));
    std::vector<UserId> users;
    for (UserId user = 0; user < graph.num_users; ++user) users.push_back(user);
    const std::vector<ItemId> found =
        executor_for(at::kCPU).top_items(vectors, {0, width}, users, graph, 20);
    const torch::Tensor scores =
        vectors.slice(0, 0, graph.num_users).matmul(vectors.slice(0, graph.num_users).t());
    for (const UserId user : users) {
      const auto seen = split.train_and_validation(user);
      std::vector<std::pair<float, ItemId>> expected;
      for (ItemId item = 0; item < graph.num_items; ++item) {
        if (std::find(seen.begin(), seen.end(), item) == seen.end()) {
          expected.emplace_back(-scores[user][item].item<float>(), item);
        }
      }
      std::sort(expected.begin(), expected.end());
      expected.resize(20, {0.0F, ~0U});
      for (std::size_t i = 0; i < 20; ++i) {
        ASSERT_EQ(found[user * 20 + i], expected[i].second) << "user " << user << " position " << i;
      }
    }
  }
}

// Every pair's score by itself, for more users than are ranked side by side, and parts of blocks.
TEST(TopItems, OfHiddenUnitsEqualTheSortedScores) {
  torch::manual_seed(6);
  constexpr std::uint32_t kBest = 20;
  const Split split = test::toy_split(301, 170, 2000);
  const Graph graph = make_graph(split, TrainingPart::kTrainAndValidation);
  // Small integers: scores are exact and tie often.
  const torch::Tensor vectors = torch::randint(-2, 3, {graph.num_nodes(), 48}).to(torch::kFloat);
  const auto values = vectors.accessor<float, 2>();
  std::vector<UserId> users;
  for (UserId user = 0; user < graph.num_users; ++user) users.push_back(user);
  Scoring scoring(3, 7);
  scoring.first_hidden = 12;
  scoring.num_positive = 9;
  scoring.num_negative = 13;
  const auto score = [&](UserId user, ItemId item) {
    const auto v = values[graph.num_users + item];
    float sum = 0;
    for (int c = 3; c < 10; ++c) sum += values[user][c] * v[c];
    for (int h = 0; h < 22; ++h) {
      sum += (h < 9 ? 1.0F : -1.0F) * std::max(values[user][12 + h] + v[12 + h], 0.0F);
    }
    return sum;
  };
  const auto found = executor_for(at::kCPU).top_items(vectors, scoring, users, graph, kBest);
  for (const UserId user : users) {
    const auto seen = split.train_and_validation(user);
    std::vector<std::pair<float, ItemId>> expected;
    for (ItemId item = 0; item < graph.num_items; ++item) {
      if (std::find(seen.begin(), seen.end(), item) == seen.end()) {
        expected.emplace_back(-score(user, item), item);
      }
    }
    std::sort(expected.begin(), expected.end());
    for (std::size_t i = 0; i < kBest; ++i) {
      ASSERT_EQ(found[user * kBest + i], expected[i].second)
          << "user " << user << " position " << i;
    }
  }
}

// By hand: each user's list, item by item.
TEST(Evaluate, CountsTheHeldOutItemsAmongTheBest) {
  torch::manual_seed(5);
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const torch::Tensor vectors = torch::randn({graph.num_nodes(), 16});
  std::vector<UserId> users;
  for (UserId user = 0; user < split.num_users(); ++user) {
    if (!split.validation(user).empty()) users.push_back(user);
  }
  const auto ranked = executor_for(at::kCPU).top_items(vectors, {0, 16}, users, graph, 20);
  double recall = 0;
  for (std::size_t i = 0; i < users.size(); ++i) {
    const auto held = split.validation(users[i]);
    int hits = 0;
    for (std::size_t position = 0; position < 10; ++position) {
      hits += static_cast<int>(std::count(held.begin(), held.end(), ranked[i * 20 + position]));
    }
    recall += hits / static_cast<double>(held.size());
  }
  EXPECT_GT(recall, 0);
  EXPECT_NEAR(evaluate(vectors, {0, 16}, split, HeldOut::kValidation, graph).recall[1],
              recall / static_cast<double>(users.size()), 1e-12);
}

TEST(Evaluate, ScoresEveryUserByItself) {
  torch::manual_seed(7);
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const torch::Tensor vectors = torch::randn({graph.num_nodes(), 16});
  const Evaluator evaluator(split, HeldOut::kValidation, graph);
  const std::vector<double> scores = evaluator.user_scores(vectors, {0, 16});
  ASSERT_EQ(scores.size(), evaluator.users().size());
  double sum = 0;
  for (const double score : scores) sum += score;
  EXPECT_GT(sum, 0);
  EXPECT_NEAR(evaluator.measure(vectors, {0, 16}).score(), sum / static_cast<double>(scores.size()),
              1e-12);
  for (std::size_t i = 0; i < scores.size(); i += 7) {
    const UserId user = evaluator.users()[i];
    const auto held = split.validation(user);
    const auto ranked =
        executor_for(at::kCPU).top_items(vectors, {0, 16}, std::span(&user, 1), graph, 20);
    std::uint32_t hits = 0;
    for (std::uint32_t position = 0; position < ranked.size(); ++position) {
      if (std::count(held.begin(), held.end(), ranked[position]) > 0) hits |= 1U << position;
    }
    EXPECT_DOUBLE_EQ(scores[i], user_metrics(hits, held.size()).score());
  }
}

TEST(Evaluate, IsTheSameForAnyThreadCountAndLeavesOutUsersWithoutHeldOutItems) {
  torch::manual_seed(4);
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const torch::Tensor vectors = torch::randn({graph.num_nodes(), 16});
  const auto run = [&](int threads) {
    torch::set_num_threads(threads);
    return evaluate(vectors, {0, 16}, split, HeldOut::kValidation, graph);
  };
  const Metrics one = run(1);
  const Metrics three = run(3);
  EXPECT_EQ(one.recall, three.recall);
  EXPECT_EQ(one.ndcg, three.ndcg);
  std::uint64_t users = 0;
  for (UserId user = 0; user < split.num_users(); ++user) users += !split.validation(user).empty();
  EXPECT_EQ(one.num_users, users);
}

TEST(Schedule, PaperDecaysByStepsAndFastLinearly) {
  const Schedule paper = named_schedule("paper");
  EXPECT_DOUBLE_EQ(paper.rate_after(0), 0.03);
  EXPECT_DOUBLE_EQ(paper.rate_after(199), 0.03);
  EXPECT_DOUBLE_EQ(paper.rate_after(200), 0.03 * 0.95);
  EXPECT_DOUBLE_EQ(paper.rate_after(29'999), 0.001);
  EXPECT_EQ(paper.entries_for(5), 10'000U);
  const Schedule fast = named_schedule("fast");
  EXPECT_DOUBLE_EQ(fast.rate_after(fast.max_steps / 2), fast.learning_rate / 2);
  EXPECT_EQ(fast.entries_for(2000), 2000 * fast.user_passes);
  EXPECT_TRUE(fast.evaluates_at(fast.max_steps));
  EXPECT_FALSE(fast.evaluates_at(1));
  EXPECT_TRUE(fast.evaluates_at(25));  // 1/16 of 400
  EXPECT_EQ(paper.final_schedule(100, 1, false, 2000, 3000).max_steps, 100U);
  EXPECT_EQ(fast.final_schedule(fast.max_steps - 1, 1, true, 2000, 3000).max_steps, fast.max_steps);
  // A rate below the usual makes up for steps that the schedule has not got, where a model bears
  // it.
  const auto final_rate = [&](std::uint64_t length, double rate, bool bears) {
    return fast.final_schedule(length, rate, bears, 2000, 3000).learning_rate / fast.learning_rate;
  };
  EXPECT_DOUBLE_EQ(final_rate(fast.max_steps, 0.25, true), 0.375);
  EXPECT_DOUBLE_EQ(final_rate(100, 0.25, true), 0.25);
  EXPECT_DOUBLE_EQ(final_rate(fast.max_steps, 0.25, false), 0.25);
  // A shorter schedule is no cut-off one: its rate begins as high and falls to zero, too.
  const Schedule shorter = fast.final_schedule(100, 1, true, 2000, 3000);
  EXPECT_EQ(shorter.max_steps, 150U);
  EXPECT_DOUBLE_EQ(shorter.rate_after(0), fast.learning_rate);
  EXPECT_DOUBLE_EQ(shorter.rate_after(150), 0);
  EXPECT_THROW(named_schedule("slow"), Error);
}

}  // namespace
}  // namespace bet
