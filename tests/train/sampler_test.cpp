#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/tensor_pointers.h"
#include "support/toy_data.h"
#include "train/batch_sampler.h"

namespace bet {
namespace {

bool has_edge(const Graph& graph, std::uint32_t user, std::uint32_t node) {
  const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
  const auto* columns = graph.columns.data_ptr<std::int32_t>();
  return std::binary_search(columns + offsets[user], columns + offsets[user + 1],
                            static_cast<std::int32_t>(node));
}

// The batch of one step.
Batch draw(const Graph& graph, std::uint64_t seed, std::uint64_t step, std::uint32_t size,
           BatchKind kind = BatchKind::kUsers, std::uint32_t pool = 1) {
  Batch batch(size, pool, graph.num_nodes(), at::kCPU);
  StepRecord record;
  record.steps = step;
  BatchSampler(graph, seed).draw(&record, kind, batch);
  return batch;
}

std::vector<std::uint32_t> rows_of(const Batch& batch) {
  return {u32_data(batch.rows), u32_data(batch.rows) + batch.num_slots()};
}

TEST(Permuted, IsAPermutationForEveryCount) {
  for (const std::uint32_t count : {1U, 2U, 3U, 7U, 64U, 100U, 1000U}) {
    std::set<std::uint32_t> values;
    for (std::uint32_t i = 0; i < count; ++i) values.insert(draw::permuted(i, count, {1, 2, 3, 4}));
    EXPECT_EQ(values.size(), count);
    EXPECT_LT(*values.rbegin(), count);
  }
}

TEST(BatchSampler, DrawsDistinctUsersPositivesAndNegatives) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const std::uint32_t size = BatchSampler(graph, 1).num_users();
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::vector<std::uint32_t> rows = rows_of(draw(graph, 1, step, size));
    EXPECT_EQ(std::set<std::uint32_t>(rows.begin(), rows.begin() + size).size(), size);
    for (std::size_t e = 0; e < size; ++e) {
      ASSERT_TRUE(has_edge(graph, rows[e], rows[size + e]));
      ASSERT_FALSE(has_edge(graph, rows[e], rows[2 * size + e]));
      ASSERT_GE(rows[2 * size + e], graph.num_users);
      ASSERT_LT(rows[2 * size + e], graph.num_nodes());
    }
  }
}

TEST(BatchSampler, PoolsKnowWhatTheirUsersHave) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  constexpr std::uint32_t kSize = 100;  // blocks and a rest
  for (const std::uint32_t pool : {kPool, 64U, 512U}) {
    const Batch batch = draw(graph, 1, 3, kSize, BatchKind::kUsers, pool);
    const std::vector<std::uint32_t> rows = rows_of(batch);
    ASSERT_EQ(rows.size(), 2 * kSize + (kSize + pool - 1) / pool * pool);
    int num_seen = 0;
    for (std::size_t e = 0; e < kSize; ++e) {
      ASSERT_TRUE(has_edge(graph, rows[e], rows[kSize + e]));
      for (std::uint32_t k = 0; k < pool; ++k) {
        const std::uint32_t node = rows[2 * kSize + e / pool * pool + k];
        ASSERT_GE(node, graph.num_users);
        ASSERT_LT(node, graph.num_nodes());
        const bool seen = (u32_data(batch.seen_mask)[e * (pool / 32) + k / 32] >> k % 32 & 1) != 0;
        ASSERT_EQ(seen, has_edge(graph, rows[e], node));
        num_seen += seen;
      }
    }
    EXPECT_GT(num_seen, 0) << "nothing was tested";
  }
}

TEST(BatchSampler, MoreEntriesThanUsersGoRoundAgainThroughAUsersItems) {
  const Split split = test::toy_split();
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const std::uint32_t num_users = BatchSampler(graph, 1).num_users();
  const std::vector<std::uint32_t> rows = rows_of(draw(graph, 1, 4, 3 * num_users));
  std::map<std::uint32_t, std::vector<std::uint32_t>> positives;
  for (std::size_t e = 0; e < 3 * num_users; ++e) {
    positives[rows[e]].push_back(rows[3 * num_users + e]);
  }
  EXPECT_EQ(positives.size(), num_users);
  const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
  for (const auto& [user, items] : positives) {
    ASSERT_EQ(items.size(), 3U);
    // Each round takes from its own third of the items.
    if ((offsets[user + 1] - offsets[user]) % 3 == 0) {
      EXPECT_TRUE(items[0] < items[1] && items[1] < items[2]);
    }
  }
}

TEST(BatchSampler, InteractionsAreDrawnUniformly) {
  const Split split = test::toy_split(20, 15, 100);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const auto edges =
      static_cast<std::uint32_t>(graph.offsets.data_ptr<std::int64_t>()[graph.num_users]);
  const std::uint32_t size = edges * 2000;
  const std::vector<std::uint32_t> rows =
      rows_of(draw(graph, 1, 0, size, BatchKind::kInteractions));
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> count;
  for (std::size_t e = 0; e < size; ++e) ++count[{rows[e], rows[size + e]}];
  EXPECT_EQ(count.size(), edges);
  for (const auto& [pair, c] : count) EXPECT_NEAR(c, 2000, 250);
}

TEST(BatchSampler, IsFixedBySeedAndStepForAnyThreadCount) {
  const Split split = test::toy_split(3000, 500, 30'000);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  for (const std::uint32_t pool : {1U, kPool, 128U}) {
    const auto rows = [&](std::uint64_t seed, std::uint64_t step, int threads) {
      at::set_num_threads(threads);
      return rows_of(draw(graph, seed, step, 2500, BatchKind::kUsers, pool));
    };
    EXPECT_EQ(rows(1, 5, 1), rows(1, 5, 3));
    EXPECT_NE(rows(1, 5, 1), rows(2, 5, 1));
    EXPECT_NE(rows(1, 5, 1), rows(1, 6, 1));
  }
}

TEST(BatchSampler, AUserWithEveryItemGivesAVoidPair) {
  Dataset dataset;
  dataset.users = IdTable::consecutive(1);
  dataset.items = IdTable::consecutive(1);
  dataset.interactions.columns.push_back(0);
  dataset.interactions.offsets.push_back(1);
  const Split split = make_split(std::move(dataset), SplitKind::kRandom, 1);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const std::vector<std::uint32_t> rows = rows_of(draw(graph, 1, 0, 3));
  for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(rows[6 + e], rows[3 + e]);
}

TEST(Batch, IsGroupedByRowInOrder) {
  Batch batch(3, 1, 5, at::kCPU);
  const std::vector<std::uint32_t> rows = {0, 1, 0, 2, 3, 3, 3, 2, 4};
  std::copy(rows.begin(), rows.end(), u32_data(batch.rows));
  batch.group();
  EXPECT_EQ(std::vector<std::uint64_t>(u64_data(batch.offsets), u64_data(batch.offsets) + 6),
            (std::vector<std::uint64_t>{0, 2, 3, 5, 8, 9}));
  EXPECT_EQ(std::vector<std::uint32_t>(u32_data(batch.slots), u32_data(batch.slots) + 9),
            (std::vector<std::uint32_t>{0, 2, 1, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(std::vector<std::uint8_t>(bytes(batch.touched), bytes(batch.touched) + 5),
            (std::vector<std::uint8_t>{1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace bet
