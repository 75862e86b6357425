#include "plan/size_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/grown_plan.h"
#include "plan/plan_sampler.h"
#include "support/expect_error.h"

namespace bet {
namespace {

TEST(SizePlan, KeepsItsInvariant) {
  const TableShape shape{2, 1, 8, 1};
  const SizePlan plan(shape, {1, 8}, {3});
  EXPECT_EQ(plan.num_params(), 12U);
  EXPECT_EQ(plan.largest_size(), 8U);
  EXPECT_THROW(SizePlan(shape, {0, 8}, {3}), Error);
  EXPECT_THROW(SizePlan(shape, {1, 9}, {3}), Error);
  EXPECT_THROW(SizePlan(shape, {1}, {3}), Error);
  EXPECT_THROW(SizePlan(shape, {1, 1}, {3, 3}), Error);
}

TEST(SizePlan, WithAMaskKeepsAnyColumns) {
  const TableShape shape{1, 2, 4, 0, 1, true};
  const std::vector<std::uint8_t> mask = {1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0};
  const SizePlan plan = SizePlan::masked(shape, mask);
  EXPECT_EQ(plan.user_sizes()[0], 2U);
  EXPECT_EQ(plan.item_sizes()[0], 0U);
  EXPECT_EQ(plan.item_sizes()[1], 1U);
  EXPECT_EQ(plan.num_params(), 3U);
  EXPECT_EQ(plan.largest_size(), 2U);
  EXPECT_EQ(plan.width(), 3U);
  // Three values, 5 counts per side, and one byte of mask for each row that has values.
  EXPECT_EQ(plan.stored_bytes(Precision::kFloat32), 3 * 4 + 8 * 5 + 2U);
  EXPECT_FALSE(plan == SizePlan(shape, {2}, {0, 1}));
  EXPECT_THROW(SizePlan::masked(shape, {1, 0}), Error);
  std::vector<std::uint8_t> odd = mask;
  odd[0] = 2;
  EXPECT_THROW(SizePlan::masked(shape, odd), Error);
  TableShape full = shape;
  full.min_dim = 1;
  EXPECT_THROW(SizePlan::masked(full, mask), Error) << "a row without parameters";
}

TEST(EqualPlan, FloorsAsThePaperDoes) {
  const TableShape shape{29'858, 40'981, 128, 1};
  EXPECT_EQ(equal_plan(shape, 1'813'478).largest_size(), 25U);
  EXPECT_EQ(equal_plan(shape, 906'739).largest_size(), 12U);
  const SizePlan plan = equal_plan(shape, 453'369);
  EXPECT_EQ(plan.largest_size(), 6U);
  EXPECT_EQ(plan.num_params(), 6U * 70'839U);
  EXPECT_EQ(full_plan(shape).num_params(), shape.full_params());
  EXPECT_THROW(equal_plan(shape, 70'838), Error);
}

TEST(MixedRandomPlan, SpendsTheBudgetExactlyOnEveryShape) {
  for (const TableShape& shape : {TableShape{1, 1, 128, 1}, TableShape{3, 500, 16, 1},
                                  TableShape{500, 3, 128, 2}, TableShape{40, 60, 128, 0}}) {
    for (std::uint64_t step = 0; step <= 20; ++step) {
      const std::uint64_t params =
          shape.min_params() + (shape.full_params() - shape.min_params()) * step / 20;
      const SizePlan plan = mixed_random_plan(shape, params, step);
      ASSERT_EQ(plan.num_params(), params);
      ASSERT_EQ(plan, mixed_random_plan(shape, params, step));
    }
  }
}

// NCF: both embeddings of a row have the row's size, and the budget counts both.
TEST(TwoTables, AreCountedTwiceAndNeverBreakTheBudget) {
  const TableShape shape{29'858, 40'981, 128, 1, 2};
  EXPECT_EQ(shape.full_params(), 2U * 128U * 70'839U);
  EXPECT_EQ(full_plan(shape).num_params(), shape.full_params());
  const ResolvedBudget tenth = resolve_budget(parse_budget("10%"), shape);
  EXPECT_EQ(tenth.params, 1'813'478U);
  EXPECT_EQ(equal_plan(shape, tenth.params).largest_size(), 12U);
  const std::vector<std::uint32_t> users(shape.num_users, 1);
  const std::vector<std::uint32_t> items(shape.num_items, 1);
  for (const std::uint64_t params : {tenth.params, tenth.params + 1, shape.min_params()}) {
    EXPECT_EQ(mixed_random_plan(shape, params, 1).num_params(), params / 2 * 2);
    EXPECT_EQ(PlanSampler(shape, params, users, items).draw(1, 2).plan.num_params(),
              params / 2 * 2);
  }
  const SizePlan plan = equal_plan(shape, tenth.params);
  EXPECT_EQ(plan.stored_bytes(Precision::kFloat32), 4U * 24U * 70'839U + 8U * 129U);
  EXPECT_LE(plan.stored_bytes(Precision::kFloat32), tenth.bytes);
  EXPECT_THROW(resolve_budget(parse_budget("141677p"), shape), Error)
      << "one less than one per row and table";
}

TEST(MixedRandomPlan, IsSpreadAndIgnoresTheOrderOfRows) {
  const TableShape shape{5000, 5000, 128, 1};
  const SizePlan plan = mixed_random_plan(shape, 64'000, 1);  // 6.4 a row: drawn from 1 to 12
  std::vector<int> counts(129, 0);
  for (const std::uint16_t size : plan.user_sizes()) ++counts[size];
  for (const std::uint16_t size : plan.item_sizes()) ++counts[size];
  for (int size = 1; size <= 12; ++size) EXPECT_NEAR(counts[size], 833, 150) << size;
  EXPECT_NE(plan, mixed_random_plan(shape, 64'000, 2));
}

// What is left of a budget goes to the rows that have values, the most frequent first.
TEST(GrownPlan, SpendsWhatIsLeftOnRowsThatHaveValues) {
  const TableShape shape{3, 2, 16, 0};
  const SizePlan plan = SizePlan(shape, {4, 4, 0}, {16, 6}).with_precision(Precision::kInt2);
  const std::vector<std::uint32_t> users = {1, 5, 9};
  const std::vector<std::uint32_t> items = {7, 3};
  const auto sizes = [&](std::uint64_t bytes) {
    const SizePlan grown = grown_plan(plan, bytes, users, items);
    EXPECT_LE(grown.stored_bytes(), plan.stored_bytes() + bytes);
    EXPECT_EQ(grown.precision(), plan.precision());
    return std::vector<std::uint16_t>{grown.user_sizes()[0], grown.user_sizes()[1],
                                      grown.user_sizes()[2], grown.item_sizes()[0],
                                      grown.item_sizes()[1]};
  };
  using RowSizes = std::vector<std::uint16_t>;
  EXPECT_EQ(sizes(0), (RowSizes{4, 4, 0, 16, 8})) << "the last byte of the row of 6 has room";
  EXPECT_EQ(sizes(1), (RowSizes{4, 8, 0, 16, 8}));
  EXPECT_EQ(sizes(2), (RowSizes{8, 8, 0, 16, 8}));
  EXPECT_EQ(sizes(3), (RowSizes{8, 12, 0, 16, 8}));
  EXPECT_EQ(sizes(100), (RowSizes{16, 16, 0, 16, 16})) << "and no further";
}

}  // namespace
}  // namespace bet
