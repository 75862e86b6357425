#include "baselines/growing_table.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/toy_data.h"
#include "train/model_state.h"

namespace bet {
namespace {

constexpr std::uint32_t kDim = 12;

struct Case {
  explicit Case(const std::string& backbone, std::optional<std::uint64_t> total = std::nullopt)
      : split(test::toy_split()),
        graph(make_graph(split, TrainingPart::kTrain)),
        shape{split.num_users(), split.num_items(), kDim, 1, find_backbone(backbone).tables},
        full(full_plan(shape)),
        model(graph, std::span(&full, 1), options(backbone), schedule()),
        drawn(model.table().values.clone()),
        growing(model.table(), shape, {2, 4, 8, kDim}, total) {}

  static ModelOptions options(const std::string& backbone) {
    ModelOptions options;
    options.backbone = backbone;
    options.dim = kDim;
    return options;
  }
  static Schedule schedule() {
    Schedule schedule;
    schedule.batch_size = 200;
    schedule.max_steps = 100;
    return schedule;
  }
  // Values of a row from a column on.
  at::Tensor tail(const at::Tensor& values, std::int64_t row, std::int64_t size) const {
    return values[row].slice(0, size * shape.tables);
  }
  std::uint64_t total() const {
    return static_cast<std::uint64_t>(growing.sizes().sum().item<std::int64_t>());
  }

  Split split;
  Graph graph;
  TableShape shape;
  SizePlan full;
  ModelInTraining model;
  at::Tensor drawn;
  GrowingTable growing;
};

at::Tensor rows_where(const Case& test, std::int64_t begin, std::int64_t end) {
  const at::Tensor rows = at::zeros({test.drawn.size(0)}, at::kBool);
  rows.slice(0, begin, end).fill_(true);
  return rows;
}

void expect_hidden_columns_asleep(const std::string& backbone) {
  Case test(backbone);
  const at::Tensor none = at::zeros({test.drawn.size(0)}, at::kLong);
  for (int step = 0; step < 3; ++step) test.model.step();
  const at::Tensor before = test.model.table().values.clone();
  EXPECT_GT((before - test.drawn).slice(1, 0, 2).abs().max().item<float>(), 0) << "not trained";
  EXPECT_EQ(before.slice(1, 2 * test.shape.tables).abs().max().item<float>(), 0);
  test.growing.grow(rows_where(test, 5, 9), none);
  const at::Tensor& after = test.model.table().values;
  for (std::int64_t row = 0; row < after.size(0); ++row) {
    const bool grown = row >= 5 && row < 9;
    const std::int64_t old_end = 2 * test.shape.tables;
    const std::int64_t new_end = (grown ? 4 : 2) * test.shape.tables;
    ASSERT_TRUE(after[row].slice(0, 0, old_end).equal(before[row].slice(0, 0, old_end)));
    ASSERT_TRUE(
        after[row].slice(0, old_end, new_end).equal(test.drawn[row].slice(0, old_end, new_end)))
        << backbone << ": row " << row << " has not the values drawn for it";
    ASSERT_EQ(after[row].slice(0, new_end).abs().sum().item<float>(), 0);
  }
  for (int step = 0; step < 3; ++step) test.model.step();
  for (std::int64_t row = 0; row < after.size(0); ++row) {
    ASSERT_EQ(test.tail(after, row, row >= 5 && row < 9 ? 4 : 2).abs().sum().item<float>(), 0);
  }
  const at::Tensor gained =
      after.slice(0, 5, 9).slice(1, 2 * test.shape.tables, 4 * test.shape.tables);
  const at::Tensor drawn =
      test.drawn.slice(0, 5, 9).slice(1, 2 * test.shape.tables, 4 * test.shape.tables);
  EXPECT_GT((gained - drawn).abs().max().item<float>(), 0) << backbone << ": gained, not trained";
}

TEST(GrowingTable, HiddenColumnsStayZeroAndComeAsTheyWereDrawn) {
  for (const char* backbone : {"lightgcn", "ngcf", "ncf"}) expect_hidden_columns_asleep(backbone);
}

TEST(GrowingTable, GrowsByOnePlaceAndStopsAtTheLargestSize) {
  Case test("mf");
  const at::Tensor all = at::ones({test.drawn.size(0)}, at::kBool);
  const at::Tensor none = at::zeros({test.drawn.size(0)}, at::kLong);
  for (const std::int64_t size : {4, 8, 12, 12}) {
    test.growing.grow(all, none);
    EXPECT_TRUE(test.growing.sizes().eq(size).all().item<bool>());
  }
  EXPECT_TRUE(test.model.table().values.equal(test.drawn));
  EXPECT_EQ(test.growing.plan(), test.full);
}

TEST(GrowingTable, WhatIsTriedChangesNothing) {
  Case test("mf");
  const at::Tensor before = test.model.table().values.clone();
  const GrowingTable::Enlarged tried = test.growing.enlarged(rows_where(test, 3, 6));
  EXPECT_TRUE(test.model.table().values.equal(before));
  EXPECT_TRUE(test.growing.sizes().eq(2).all().item<bool>());
  EXPECT_EQ(tried.gained.sum().item<std::int64_t>(), 3 * 2);
  EXPECT_TRUE(tried.table.values[4].slice(0, 0, 4).equal(test.drawn[4].slice(0, 0, 4)));
  EXPECT_EQ(test.tail(tried.table.values, 4, 4).abs().sum().item<float>(), 0);
  EXPECT_TRUE(tried.table.values[2].equal(before[2]));
}

// 200 rows of size 2, and room for 11 more: five rows of two columns each, one stays unused.
TEST(GrowingTable, KeepsTheCapAndServesTheHighestRanksFirst) {
  Case test("mf", 411);
  ASSERT_EQ(test.total(), 400U);
  const at::Tensor all = at::ones({test.drawn.size(0)}, at::kBool);
  at::Tensor ranks = at::zeros({test.drawn.size(0)}, at::kLong);
  for (const std::int64_t row : {150, 20, 199}) ranks[row] = 7;
  test.growing.grow(all, ranks);
  EXPECT_EQ(test.total(), 410U);
  for (const std::int64_t row : {150, 20, 199, 0, 1}) {
    EXPECT_EQ(test.growing.sizes()[row].item<std::int64_t>(), 4) << row;
  }
  test.growing.grow(all, ranks);
  EXPECT_EQ(test.total(), 410U) << "more would be too much";
}

TEST(GrowingTable, NamesABudgetThatIsTooSmall) {
  EXPECT_EQ(test::error_of([] { const Case test("ncf", 399); }),
            "size 2 for every row is 800 parameters; the budget has 798");
}

}  // namespace
}  // namespace bet
