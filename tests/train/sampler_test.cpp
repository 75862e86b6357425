#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/toy_data.h"
#include "train/triple_sampler.h"

namespace bet {
namespace {

bool has_edge(const Graph& graph, std::uint32_t user, std::uint32_t node) {
  const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
  const auto* columns = graph.columns.data_ptr<std::int32_t>();
  return std::binary_search(columns + offsets[user], columns + offsets[user + 1],
                            static_cast<std::int32_t>(node));
}

TEST(Permuted, IsAPermutationForEveryCount) {
  for (const std::uint32_t count : {1U, 2U, 3U, 7U, 64U, 100U, 1000U}) {
    std::set<std::uint32_t> values;
    for (std::uint32_t i = 0; i < count; ++i) values.insert(permuted(i, count, {1, 2, 3, 4}));
    EXPECT_EQ(values.size(), count);
    EXPECT_LT(*values.rbegin(), count);
  }
}

TEST(TripleSampler, DrawsDistinctUsersPositivesAndNegatives) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const TripleSampler sampler(graph, 1);
  TripleBatch batch;
  batch.resize(sampler.num_users());
  for (std::uint64_t step = 0; step < 20; ++step) {
    sampler.draw(step, BatchKind::kUsers, batch);
    EXPECT_EQ(std::set<std::uint32_t>(batch.users.begin(), batch.users.end()).size(), batch.size());
    for (std::size_t t = 0; t < batch.size(); ++t) {
      ASSERT_TRUE(has_edge(graph, batch.users[t], batch.positives[t]));
      ASSERT_FALSE(has_edge(graph, batch.users[t], batch.negatives[t]));
      ASSERT_GE(batch.negatives[t], graph.num_users);
      ASSERT_LT(batch.negatives[t], graph.num_nodes());
    }
  }
}

TEST(TripleSampler, MoreTriplesThanUsersGoRoundAgain) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const TripleSampler sampler(graph, 1);
  TripleBatch batch;
  batch.resize(3 * sampler.num_users());
  sampler.draw(4, BatchKind::kUsers, batch);
  std::vector<int> count(graph.num_users, 0);
  for (const std::uint32_t user : batch.users) ++count[user];
  for (const int c : count) EXPECT_EQ(c, 3);
}

TEST(TripleSampler, InteractionsAreDrawnUniformly) {
  const Split split = test::toy_split(20, 15, 100);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const TripleSampler sampler(graph, 1);
  TripleBatch batch;
  const auto edges =
      static_cast<std::size_t>(graph.offsets.data_ptr<std::int64_t>()[graph.num_users]);
  batch.resize(edges * 2000);
  sampler.draw(0, BatchKind::kInteractions, batch);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> count;
  for (std::size_t t = 0; t < batch.size(); ++t) ++count[{batch.users[t], batch.positives[t]}];
  EXPECT_EQ(count.size(), edges);
  for (const auto& [pair, c] : count) EXPECT_NEAR(c, 2000, 250);
}

TEST(TripleSampler, IsFixedBySeedAndStepForAnyThreadCount) {
  const Split split = test::toy_split(3000, 500, 30'000);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const auto draw = [&](std::uint64_t seed, std::uint64_t step, int threads) {
    at::set_num_threads(threads);
    TripleBatch batch;
    batch.resize(2500);
    TripleSampler(graph, seed).draw(step, BatchKind::kUsers, batch);
    return batch.negatives;
  };
  EXPECT_EQ(draw(1, 5, 1), draw(1, 5, 3));
  EXPECT_NE(draw(1, 5, 1), draw(2, 5, 1));
  EXPECT_NE(draw(1, 5, 1), draw(1, 6, 1));
}

TEST(TripleSampler, AUserWithEveryItemGivesAVoidTriple) {
  Dataset dataset;
  dataset.users = IdTable::consecutive(1);
  dataset.items = IdTable::consecutive(1);
  dataset.interactions.columns.push_back(0);
  dataset.interactions.offsets.push_back(1);
  const Split split = make_split(dataset, SplitKind::kRandom, 1);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  TripleBatch batch;
  batch.resize(3);
  TripleSampler(graph, 1).draw(0, BatchKind::kUsers, batch);
  EXPECT_EQ(batch.negatives, batch.positives);
}

TEST(BatchEntries, HoldEveryScoreFromBothSides) {
  TripleBatch batch;
  batch.users = {0, 1, 0};
  batch.positives = {2, 3, 3};
  batch.negatives = {3, 2, 4};
  BatchEntries entries;
  entries.build(batch, 5);
  EXPECT_EQ(entries.offsets, (std::vector<std::uint64_t>{0, 4, 6, 8, 11, 12}));
  EXPECT_EQ(std::vector<std::uint32_t>(entries.columns.begin(), entries.columns.begin() + 12),
            (std::vector<std::uint32_t>{2, 3, 3, 4, 3, 2, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(entries.triples, (std::vector<std::uint32_t>{0, 1, 4, 5, 2, 3, 0, 3, 1, 2, 4, 5}));
  EXPECT_EQ(entries.row_count, (std::vector<std::uint32_t>{2, 1, 2, 3, 1}));
}

}  // namespace
}  // namespace bet
