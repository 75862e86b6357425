#include "plan/plan_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "support/expect_error.h"

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
    for (int step = 0; step < kBudgets; ++step) {
      const std::uint64_t params =
          shape.min_params() + (shape.full_params() - shape.min_params()) * step / (kBudgets - 1);
      const PlanSampler sampler(shape, params, users, items);
      for (int i = 0; i < test.num_plans / kBudgets; ++i) {
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

// Only every other plan has empty rows, unless there are fewer parameters than rows.
TEST(PlanSampler, LeavesRowsEmptyWhereTheyMayBe) {
  const auto users = frequencies(60, 1);
  const auto items = frequencies(90, 2);
  const auto smallest = [](const SizePlan& plan) {
    return std::min(*std::min_element(plan.user_sizes().begin(), plan.user_sizes().end()),
                    *std::min_element(plan.item_sizes().begin(), plan.item_sizes().end()));
  };
  const TableShape shape{60, 90, 128, 0};
  const PlanSampler sampler(shape, 300, users, items);
  int empty = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const std::uint16_t size = smallest(sampler.draw(1, index).plan);
    if (index % 2 == 1) {
      EXPECT_GE(size, 1) << index;
    } else {
      empty += size == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(empty, 40);
  EXPECT_EQ(smallest(PlanSampler(shape, 149, users, items).draw(1, 1).plan), 0);
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

}  // namespace
}  // namespace bet
