#include "plan/rule_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace bet {
namespace {

std::vector<std::uint32_t> descending(std::uint32_t count) {
  std::vector<std::uint32_t> values(count);
  for (std::uint32_t i = 0; i < count; ++i) values[i] = 1 + 400 / (i + 1);
  return values;
}

double user_share(const SizePlan& plan) {
  const auto sizes = plan.user_sizes();
  return std::accumulate(sizes.begin(), sizes.end(), 0.0) /
         (static_cast<double>(plan.num_params()) / plan.shape().tables);
}

TEST(RulePlans, AreThoseOfTheMethods) {
  for (const std::uint32_t tables : {1U, 2U}) {
    const TableShape shape{60, 90, 64, 0, tables};
    const PlanSampler sampler(shape, 900ULL * tables, descending(60), descending(90));
    const std::vector<SampledPlan> rules = rule_plans(sampler);
    EXPECT_TRUE(rules[0].plan == equal_plan(shape, 900ULL * tables)) << "es comes first";
    const auto has = [&](const SizePlan& plan) {
      return std::ranges::any_of(rules, [&](const SampledPlan& rule) { return rule.plan == plan; });
    };
    for (int tenths = 0; tenths <= 10; ++tenths)
      EXPECT_TRUE(has(sampler.sided_plan(tenths / 10.0)));
    for (const double exponent : kFrequencyExponents) {
      EXPECT_TRUE(has(sampler.frequency_plan(exponent))) << exponent;
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
      EXPECT_LE(rules[i].plan.num_params(), 900U * tables);
      EXPECT_NEAR(rules[i].origin.user_share, user_share(rules[i].plan), 1e-12);
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(rules[i].plan == rules[j].plan);
    }
  }
}

TEST(RulePlans, LeaveNoRowEmptyThatMustNotBe) {
  const TableShape shape{60, 90, 64, 1};
  const PlanSampler sampler(shape, 160, descending(60), descending(90));
  for (const SampledPlan& rule : rule_plans(sampler)) {
    EXPECT_GE(*std::ranges::min_element(rule.plan.user_sizes()), 1);
    EXPECT_GE(*std::ranges::min_element(rule.plan.item_sizes()), 1);
  }
}

// Fewer parameters than rows: equal sizes would be empty.
TEST(RulePlans, OfATinyBudgetHaveNoEmptyPlan) {
  const TableShape shape{60, 90, 64, 0};
  const PlanSampler sampler(shape, 40, descending(60), descending(90));
  for (const SampledPlan& rule : rule_plans(sampler)) EXPECT_EQ(rule.plan.num_params(), 40U);
}

}  // namespace
}  // namespace bet
