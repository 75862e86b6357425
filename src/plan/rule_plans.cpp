#include "plan/rule_plans.h"

#include <algorithm>
#include <cmath>

namespace bet {
namespace {

// The users' share of what the plan spends: of its parameters or, under a limit of bytes, of these.
double user_share_of(const SizePlan& plan, bool in_bytes) {
  const auto spent = [&](std::span<const std::uint16_t> sizes, Precision precision) {
    std::uint64_t sum = 0;
    for (const std::uint64_t size : sizes) {
      sum += in_bytes ? row_bytes(precision, size * plan.shape().tables) : size;
    }
    return static_cast<double>(sum);
  };
  const double for_users = spent(plan.user_sizes(), plan.precision().users);
  return for_users / (for_users + spent(plan.item_sizes(), plan.precision().items));
}

PlanOrigin origin_of(const SizePlan& plan, double exponent, bool in_bytes) {
  PlanOrigin origin;
  origin.user_share = user_share_of(plan, in_bytes);
  origin.precision = plan.precision();
  origin.form = plan.form();
  origin.user_family = origin.item_family = SizeFamily::kFrequency;
  origin.user_shape = origin.item_shape = exponent;
  return origin;
}

}  // namespace

std::vector<double> sided_shares(bool may_have_empty_rows, bool several_precisions) {
  const int parts = several_precisions ? 5 : 10;
  const int ends = may_have_empty_rows ? 0 : 1;
  std::vector<double> shares;
  for (int part = ends; part <= parts - ends; ++part) {
    shares.push_back(static_cast<double>(part) / parts);
  }
  return shares;
}

std::vector<SampledPlan> rule_plans(const PlanSampler& sampler) {
  std::vector<SampledPlan> plans;
  const auto add = [&](SizePlan plan, double exponent) {
    const bool known =
        std::ranges::any_of(plans, [&](const SampledPlan& other) { return other.plan == plan; });
    if (known) return;
    const PlanOrigin origin = origin_of(plan, exponent, sampler.limit().in_bytes);
    plans.push_back({std::move(plan), origin});
  };
  const bool several = sampler.limit().precisions.size() > 1;
  for (const TablePrecision& precision : sampler.limit().precisions) {
    if (precision.users != precision.items) continue;
    if (sampler.limit().form == StoredForm::kVectors) {
      add(sampler.frequency_plan(0, precision.users), 0);
      continue;
    }
    if (std::optional<SizePlan> equal = sampler.equal_plan(precision)) add(std::move(*equal), 0);
    for (const double share : sided_shares(sampler.may_have_empty_rows(), several)) {
      add(sampler.sided_plan(share, precision), 0);
    }
    if (several) continue;
    for (const double exponent : kFrequencyExponents) {
      add(sampler.frequency_plan(exponent, precision.users), exponent);
    }
  }
  return plans;
}

std::size_t num_rule_precisions(std::size_t num_precisions) {
  return num_precisions == 1 ? 0
                             : static_cast<std::size_t>(
                                   std::lround(std::sqrt(static_cast<double>(num_precisions))));
}

std::size_t num_rule_plans(std::size_t num_precisions, bool may_have_empty_rows) {
  if (num_precisions == 1) {
    return sided_shares(may_have_empty_rows, false).size() + kFrequencyExponents.size();
  }
  return num_rule_precisions(num_precisions) * (1 + sided_shares(may_have_empty_rows, true).size());
}

}  // namespace bet
