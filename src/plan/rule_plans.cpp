#include "plan/rule_plans.h"

#include <algorithm>
#include <numeric>

namespace bet {
namespace {

PlanOrigin origin_of(const SizePlan& plan, double exponent) {
  const auto sizes = plan.user_sizes();
  const auto for_users = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  PlanOrigin origin;
  origin.user_share =
      static_cast<double>(for_users * plan.shape().tables) / static_cast<double>(plan.num_params());
  origin.user_family = origin.item_family = SizeFamily::kFrequency;
  origin.user_shape = origin.item_shape = exponent;
  return origin;
}

}  // namespace

std::vector<double> sided_shares(bool may_have_empty_rows) {
  constexpr int kTenths = 10;
  const int ends = may_have_empty_rows ? 0 : 1;
  std::vector<double> shares;
  for (int tenths = ends; tenths <= kTenths - ends; ++tenths) {
    shares.push_back(static_cast<double>(tenths) / kTenths);
  }
  return shares;
}

std::vector<SampledPlan> rule_plans(const PlanSampler& sampler) {
  std::vector<SampledPlan> plans;
  const auto add = [&](SizePlan plan, double exponent) {
    const bool known =
        std::ranges::any_of(plans, [&](const SampledPlan& other) { return other.plan == plan; });
    if (known) return;
    const PlanOrigin origin = origin_of(plan, exponent);
    plans.push_back({std::move(plan), origin});
  };
  // The equal sizes of `es` are rounded down, to nothing where there are fewer parameters than
  // rows.
  if (sampler.params() >= sampler.shape().num_rows() * sampler.shape().tables) {
    add(equal_plan(sampler.shape(), sampler.params()), 0);
  }
  for (const double share : sided_shares(sampler.may_have_empty_rows())) {
    add(sampler.sided_plan(share), 0);
  }
  for (const double exponent : kFrequencyExponents) {
    add(sampler.frequency_plan(exponent), exponent);
  }
  return plans;
}

}  // namespace bet
