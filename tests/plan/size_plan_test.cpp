#include "plan/size_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(MixedRandomPlan, IsSpreadAndIgnoresTheOrderOfRows) {
  const TableShape shape{5000, 5000, 128, 1};
  const SizePlan plan = mixed_random_plan(shape, 64'000, 1);  // 6.4 a row: drawn from 1 to 12
  std::vector<int> counts(129, 0);
  for (const std::uint16_t size : plan.user_sizes()) ++counts[size];
  for (const std::uint16_t size : plan.item_sizes()) ++counts[size];
  for (int size = 1; size <= 12; ++size) EXPECT_NEAR(counts[size], 833, 150) << size;
  EXPECT_NE(plan, mixed_random_plan(shape, 64'000, 2));
}

}  // namespace
}  // namespace bet
