#include "plan/plan_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "plan/rule_plans.h"
#include "support/expect_error.h"
#include "support/sanitized.h"

namespace bet {
namespace {

std::vector<std::uint32_t> frequencies(std::uint64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> values(count);
  for (std::uint32_t& value : values)
    value = static_cast<std::uint32_t>(random() % 50);  // many ties
  return values;
}

void expect_order_follows_frequency(std::span<const std::uint16_t> sizes,
                                    std::span<const std::uint32_t> frequency) {
  const std::vector<std::uint32_t> order = frequency_order(frequency);
  for (std::size_t rank = 1; rank < order.size(); ++rank) {
    ASSERT_GE(sizes[order[rank - 1]], sizes[order[rank]]) << "rank " << rank;
  }
}

struct Case {
  TableShape shape;
  int num_plans;
};

// 100,000 plans over shapes and budgets, both extremes among them. SizePlan itself throws on a size
// outside [min_dim, max_dim].
TEST(PlanSampler, SpendsTheBudgetExactlyAndFollowsFrequency) {
  for (const Case& test : {Case{{1, 1, 128, 1}, 30'000}, Case{{2, 200, 128, 1}, 20'000},
                           Case{{200, 2, 128, 1}, 20'000}, Case{{60, 90, 128, 1}, 20'000},
                           Case{{60, 90, 16, 0}, 8'000}, Case{{700, 900, 64, 2}, 2'000}}) {
    const TableShape& shape = test.shape;
    const auto users = frequencies(shape.num_users, 1);
    const auto items = frequencies(shape.num_items, 2);
    constexpr int kBudgets = 10;
    const int num_plans = test.num_plans / kBudgets / (test::kSanitized ? 10 : 1);
    for (int step = 0; step < kBudgets; ++step) {
      const std::uint64_t params =
          shape.min_params() + (shape.full_params() - shape.min_params()) * step / (kBudgets - 1);
      const PlanSampler sampler(shape, params, users, items);
      for (int i = 0; i < num_plans; ++i) {
        const SampledPlan sampled = sampler.draw(11, i);
        ASSERT_EQ(sampled.plan.num_params(), params);
        expect_order_follows_frequency(sampled.plan.user_sizes(), users);
        expect_order_follows_frequency(sampled.plan.item_sizes(), items);
        if (i % 50 == 0) {
          ASSERT_EQ(sampler.draw(11, i).plan, sampled.plan);
        }
      }
    }
  }
}

std::uint64_t rows_with_parameters(std::span<const std::uint16_t> sizes) {
  return static_cast<std::uint64_t>(
      std::count_if(sizes.begin(), sizes.end(), [](std::uint16_t size) { return size > 0; }));
}

TEST(PlanSampler, KeepsTheShareOfRowsThatIsAskedFor) {
  const auto users = frequencies(60, 1);
  const auto items = frequencies(90, 2);
  const PlanSampler sampler({60, 90, 16, 0}, 500, users, items);
  for (const SizeFamily family : {SizeFamily::kPowerLaw, SizeFamily::kFrequency}) {
    PlanOrigin origin = {.user_share = 0.4,
                         .user_family = family,
                         .item_family = family,
                         .user_shape = 0.5,
                         .item_shape = 0.5,
                         .user_kept = 0.5,
                         .item_kept = 0.8};
    const SizePlan plan = sampler.make_plan(origin, 1, 0);
    EXPECT_EQ(plan.num_params(), 500U);
    EXPECT_EQ(rows_with_parameters(plan.user_sizes()), 30U);
    EXPECT_EQ(rows_with_parameters(plan.item_sizes()), 72U);
    expect_order_follows_frequency(plan.user_sizes(), users);
    // As many rows as the parameters fill, and as few as can hold them.
    origin.user_share = 0.02;
    EXPECT_EQ(rows_with_parameters(sampler.make_plan(origin, 1, 0).user_sizes()), 10U);
    origin.user_share = 0.9;
    origin.user_kept = 0;
    EXPECT_EQ(rows_with_parameters(sampler.make_plan(origin, 1, 0).user_sizes()), 29U);
    origin.user_share = 0;
    EXPECT_EQ(rows_with_parameters(sampler.make_plan(origin, 1, 0).user_sizes()), 0U);
  }
  const PlanSampler filled({60, 90, 16, 1}, 500, users, items);
  EXPECT_EQ(filled
                .make_plan({.user_share = 0.4,
                            .user_family = SizeFamily::kFrequency,
                            .item_family = SizeFamily::kFrequency,
                            .user_kept = 0.1,
                            .item_kept = 0.1},
                           1, 0)
                .user_counts()[0],
            0U)
      << "rows that must not be empty are kept";
}

TEST(PlanSampler, SizesByFrequencyAreInProportionToItsPower) {
  std::vector<std::uint32_t> users = {1, 4, 16, 64};
  const PlanSampler sampler({4, 1, 128, 0}, 150, users, std::vector<std::uint32_t>{1});
  const SizePlan plan = sampler.make_plan({.user_share = 1,
                                           .user_family = SizeFamily::kFrequency,
                                           .item_family = SizeFamily::kFrequency,
                                           .user_shape = 0.5},
                                          1, 0);
  EXPECT_EQ(std::vector<std::uint16_t>(plan.user_sizes().begin(), plan.user_sizes().end()),
            (std::vector<std::uint16_t>{10, 20, 40, 80}));
}

// Anywhere and near another plan, the budget is spent and the numbers stay in their ranges.
TEST(PlanSampler, DrawsPlansOfTheWholeSpaceAndNearOthers) {
  const auto users = frequencies(60, 1);
  const auto items = frequencies(90, 2);
  for (const std::uint32_t min_dim : {0U, 1U}) {
    const PlanSampler sampler({60, 90, 16, min_dim}, 500, users, items);
    int empty = 0;
    int ends = 0;
    PlanOrigin parent = sampler.draw_any(1, 0).origin;
    for (std::uint64_t i = 0; i < 400; ++i) {
      for (const SampledPlan& drawn :
           {sampler.draw_any(1, i), sampler.draw_near(parent, 0.3, 1, i)}) {
        ASSERT_EQ(drawn.plan.num_params(), 500U);
        expect_order_follows_frequency(drawn.plan.user_sizes(), users);
        expect_order_follows_frequency(drawn.plan.item_sizes(), items);
        const PlanOrigin& origin = drawn.origin;
        ASSERT_TRUE(origin.user_share >= 0 && origin.user_share <= 1);
        ASSERT_TRUE(origin.user_kept >= 0.1 && origin.user_kept <= 1);
        empty += drawn.plan.user_counts()[0] + drawn.plan.item_counts()[0] > 0 ? 1 : 0;
        ends += origin.user_share == 0 || origin.user_share == 1 ? 1 : 0;
        parent = origin;
      }
      ASSERT_TRUE(sampler.draw_any(1, i).plan == sampler.draw_any(1, i).plan);
    }
    EXPECT_EQ(empty > 100, min_dim == 0) << empty;
    EXPECT_EQ(ends > 50, min_dim == 0) << ends;
  }
}

TEST(PlanSampler, PlansNearOthersAreNearer) {
  const PlanSampler sampler({60, 90, 16, 0}, 500, frequencies(60, 1), frequencies(90, 2));
  const PlanOrigin parent = {.user_share = 1,
                             .user_family = SizeFamily::kFrequency,
                             .item_family = SizeFamily::kFrequency};
  for (std::uint64_t i = 0; i < 100; ++i) {
    const PlanOrigin child = sampler.draw_near(parent, 0.2, 1, i).origin;
    EXPECT_FALSE(child == parent);
    EXPECT_GE(child.user_share, 0.8);
    EXPECT_LE(child.user_shape, 0.2);
    EXPECT_GE(child.user_kept, 0.82);
  }
}

TEST(PlanSampler, DrawsEveryFamilyAndShareInItsRange) {
  const TableShape shape{50, 50, 128, 1};
  const PlanSampler sampler(shape, 1000, frequencies(50, 1), frequencies(50, 2));
  std::set<SizeFamily> families;
  double share = 0;
  constexpr int kPlans = 2000;
  for (int i = 0; i < kPlans; ++i) {
    const PlanOrigin origin = sampler.draw(1, i).origin;
    families.insert(origin.user_family);
    share += origin.user_share;
    const double most = origin.user_family == SizeFamily::kLogNormal              ? 0.5
                        : origin.user_family == SizeFamily::kTruncatedExponential ? 5.0
                                                                                  : 20.0;
    ASSERT_GT(origin.user_shape, 0.0);
    ASSERT_LT(origin.user_shape, most);
  }
  EXPECT_EQ(families.size(), 4U);
  EXPECT_NEAR(share / kPlans, 0.5, 0.03);
}

// The share of the budget that users get is the share that was drawn.
TEST(PlanSampler, GivesUsersTheirShare) {
  const TableShape shape{400, 600, 128, 1};
  const PlanSampler sampler(shape, 12'800, frequencies(400, 1), frequencies(600, 2));
  PlanOrigin origin{0.37, SizeFamily::kTruncatedNormal, SizeFamily::kLogNormal, 2.0, 0.3};
  const SizePlan plan = sampler.make_plan(origin, 1, 0);
  std::uint64_t for_users = 0;
  for (const std::uint16_t size : plan.user_sizes()) for_users += size;
  EXPECT_EQ(for_users, 4736U);  // round(0.37 * 12800)
  origin.user_share = 0;        // users still hold min_dim each
  const SizePlan least = sampler.make_plan(origin, 1, 0);
  for (const std::uint16_t size : least.user_sizes()) EXPECT_EQ(size, 1);
  EXPECT_EQ(least.num_params(), 12'800U);
}

// Compares the coefficient of variation of the sizes with that of the distribution; the sizes are
// large enough for rounding not to matter.
TEST(PlanSampler, SizesHaveTheFamilysShape) {
  const TableShape shape{20'000, 1, 60'000, 0};
  const std::uint64_t params = 20'000ULL * 10'000;
  const PlanSampler sampler(shape, params, frequencies(20'000, 1), frequencies(1, 2));
  // Coefficient of variation of each family, worked out by hand or from its moments.
  struct Expected {
    SizeFamily family;
    double shape;
    double cv;
  };
  const double a = 3.0;  // power law u^(1/a): mean a/(a+1), second moment a/(a+2)
  const double power_cv = std::sqrt(a / (a + 2) - std::pow(a / (a + 1), 2)) / (a / (a + 1));
  // A normal distribution cut at 20 is almost whole: the half-normal one has cv sqrt(pi/2-1).
  const double e5 = std::exp(-5.0);
  const double exp_mean = 1 - 5 * e5 / (1 - e5);
  const double exp_second = 2 - (25 + 10) * e5 / (1 - e5);
  const double exp_cv = std::sqrt(exp_second - exp_mean * exp_mean) / exp_mean;
  for (const Expected& expected :
       {Expected{SizeFamily::kPowerLaw, a, power_cv},
        Expected{SizeFamily::kTruncatedExponential, 5.0, exp_cv},
        Expected{SizeFamily::kTruncatedNormal, 20.0, std::sqrt(std::acos(-1.0) / 2 - 1)},
        Expected{SizeFamily::kLogNormal, 0.5, std::sqrt(std::exp(0.25) - 1)}}) {
    const SizePlan plan =
        sampler.make_plan({1.0, expected.family, SizeFamily::kPowerLaw, expected.shape, 1.0}, 5, 0);
    double sum = 0;
    double squares = 0;
    for (const std::uint16_t size : plan.user_sizes()) {
      sum += size;
      squares += static_cast<double>(size) * size;
    }
    const double mean = sum / 20'000;
    const double cv = std::sqrt(squares / 20'000 - mean * mean) / mean;
    EXPECT_NEAR(cv, expected.cv, 0.03 * expected.cv) << family_name(expected.family);
  }
}

TEST(PlanSampler, SidedPlansAreEqualWithinEachSideAndExact) {
  const TableShape shape{70, 50, 128, 1};
  for (const std::uint64_t params : {120ULL, 600ULL, 5'000ULL, 15'360ULL}) {
    const PlanSampler sampler(shape, params, frequencies(70, 1), frequencies(50, 2));
    for (const double share : {0.0, 0.3, 0.9, 1.0}) {
      const SizePlan plan = sampler.sided_plan(share);
      EXPECT_EQ(plan.num_params(), params);
      for (const auto sizes : {plan.user_sizes(), plan.item_sizes()}) {
        const auto [low, high] = std::minmax_element(sizes.begin(), sizes.end());
        EXPECT_LE(*high - *low, 1);
      }
    }
    EXPECT_THROW(sampler.sided_plan(1.1), Error);
  }
}

TEST(FrequencyOrder, IsDescendingWithTiesByIndex) {
  const std::vector<std::uint32_t> frequency = {3, 7, 3, 0, 7};
  EXPECT_EQ(frequency_order(frequency), (std::vector<std::uint32_t>{1, 4, 0, 2, 3}));
}

TEST(PlanSampler, RefusesWrongCounts) {
  const TableShape shape{2, 2, 128, 1};
  const std::vector<std::uint32_t> two = {1, 2};
  const std::vector<std::uint32_t> three = {1, 2, 3};
  EXPECT_THROW(PlanSampler(shape, 3, two, two), Error);
  EXPECT_THROW(PlanSampler(shape, 513, two, two), Error);
  EXPECT_THROW(PlanSampler(shape, 100, three, two), Error);
}

// Every plan of a byte budget keeps it, in every pair of precisions, and leaves less unused than a
// step of a row on each side.
TEST(PlanSampler, SpendsBytesButForLessThanAStepOfEachSide) {
  std::vector<TablePrecision> precisions;
  for (std::size_t users = 0; users < kPrecisionNames.size(); ++users) {
    for (std::size_t items = 0; items < kPrecisionNames.size(); ++items) {
      precisions.emplace_back(static_cast<Precision>(users), static_cast<Precision>(items));
    }
  }
  for (const std::uint32_t tables : {1U, 2U}) {
    for (const std::uint32_t min_dim : {0U, 1U}) {
      const TableShape shape{60, 90, 40, min_dim, tables};
      for (const std::uint64_t bytes : {1'800U, 3'000U, 6'000U}) {
        const PlanSampler sampler(shape, PlanLimit{true, bytes, precisions}, frequencies(60, 1),
                                  frequencies(90, 2));
        for (int i = 0; i < 300; ++i) {
          const SampledPlan sampled = sampler.draw_any(5, i);
          const TablePrecision& precision = sampled.plan.precision();
          ASSERT_EQ(precision, sampled.origin.precision);
          const std::uint64_t used = sampled.plan.stored_bytes();
          ASSERT_LE(used, bytes);
          const bool full = sampled.plan.num_params() == shape.full_params();
          // A side that is full, or has no row, leaves its share to nobody.
          const auto is_full = [&](std::span<const std::uint16_t> sizes) {
            return std::ranges::all_of(sizes, [](std::uint16_t s) { return s == 0 || s == 40; });
          };
          if (full || is_full(sampled.plan.user_sizes()) || is_full(sampled.plan.item_sizes())) {
            continue;
          }
          // The largest step is ten values of ternary rows of two tables; of fp32 eight bytes.
          ASSERT_GE(used + 2 * 12, bytes) << precision_name(precision.users) << " "
                                          << precision_name(precision.items) << " " << i;
        }
      }
    }
  }
}

TEST(PlanSampler, EqualSizesTakeAsManyColumnsAsTheBytesHold) {
  const TableShape shape{60, 90, 128, 1};
  for (const Precision precision : {Precision::kFloat32, Precision::kInt4, Precision::kInt3,
                                    Precision::kInt2, Precision::kTernary, Precision::kInt1}) {
    const PlanSampler sampler(shape, PlanLimit{true, 4'000, {TablePrecision(precision)}},
                              frequencies(60, 1), frequencies(90, 2));
    const SizePlan plan = sampler.equal_plan(precision).value();
    EXPECT_LE(plan.stored_bytes(), 4'000U);
    const std::uint64_t size = plan.user_sizes()[0];
    EXPECT_EQ(plan.item_sizes()[0], size);
    if (size == 128) continue;
    const std::uint64_t more =
        8 * 129 + 150 * (scale_bytes(precision) + value_bytes(precision, size + 1));
    EXPECT_GT(more, 4'000U) << precision_name(precision);
  }
}

// A precision in which the smallest plan does not fit is not drawn.
TEST(PlanSampler, LeavesOutPrecisionsThatDoNotFit) {
  const TableShape shape{60, 90, 40, 1};
  const std::uint64_t bytes = shape.directory_bytes() + 150 * 2;  // a byte and its scale for each
  const PlanSampler sampler(
      shape, PlanLimit{true, bytes, {Precision::kFloat32, Precision::kInt8, Precision::kInt2}},
      frequencies(60, 1), frequencies(90, 2));
  ASSERT_EQ(sampler.limit().precisions.size(), 1U);
  EXPECT_EQ(sampler.limit().precisions[0], TablePrecision(Precision::kInt2));
  EXPECT_EQ(sampler.draw_any(1, 1).plan.stored_bytes(), bytes);
  EXPECT_THROW(PlanSampler(shape, PlanLimit{true, bytes, {Precision::kFloat32}}, frequencies(60, 1),
                           frequencies(90, 2)),
               Error);
}

// Plans of vectors keep the bytes, leave no row empty, and give both sides rows of one width.
TEST(PlanSampler, OfVectorsSpendsOnRowsOfOneWidth) {
  const TableShape shape{300, 200, 64, 0};
  std::vector<std::uint32_t> users(300);
  std::vector<std::uint32_t> items(200);
  for (std::uint32_t i = 0; i < 300; ++i) users[i] = 1 + i % 17;
  for (std::uint32_t i = 0; i < 200; ++i) items[i] = 1 + i % 29;
  const std::vector<TablePrecision> precisions = {
      Precision::kInt2, {Precision::kInt4, Precision::kTernary}, Precision::kInt3};
  const PlanSampler sampler(shape, {true, 6'000, precisions, StoredForm::kVectors}, users, items);
  for (const SampledPlan& rule : rule_plans(sampler)) {
    EXPECT_EQ(rule.plan.form(), StoredForm::kVectors);
    EXPECT_EQ(rule.origin.form, StoredForm::kVectors);
    EXPECT_LE(rule.plan.stored_bytes(), 6'000U);
    EXPECT_GT(rule.plan.stored_bytes(), 5'940U);
  }
  for (std::uint64_t i = 0; i < 40; ++i) {
    const SampledPlan any = sampler.draw_any(1, i);
    const SampledPlan near = sampler.draw_near(any.origin, 0.3, 1, i);
    for (const SampledPlan& one : {any, near}) {
      EXPECT_EQ(one.plan.form(), StoredForm::kVectors);
      EXPECT_LE(one.plan.stored_bytes(), 6'000U);
      EXPECT_EQ(one.plan.user_counts()[0] + one.plan.item_counts()[0], 0U);
      const auto mean = [](std::span<const std::uint16_t> sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
      };
      const double ratio = mean(one.plan.user_sizes()) / mean(one.plan.item_sizes());
      EXPECT_NEAR(ratio, 1, 0.35) << i;
    }
  }
}

}  // namespace
}  // namespace bet
