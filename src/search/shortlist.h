#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/method.h"

namespace bet {

// Plans of simple rules.
struct RulePlans {
  std::vector<SizePlan> plans;
  std::vector<std::string> labels;  // by plan
  std::uint64_t trainings = 0;      // made to choose them, and their steps
  std::uint64_t steps = 0;
  bool stopped = false;  // by the hook, before they were chosen
};

// A plan of the rule within the sampler's limit in this precision, the same for both sides; none
// where there is none.
using RulePlan =
    std::function<std::optional<SizePlan>(const PlanSampler& sampler, Precision precision)>;

// Adds the rule's plans in every precision and form that the samplers have, labelled `label` and,
// where there are several, with precision and form. No plan twice.
void add_rule_plans(std::span<const PlanSampler> samplers, const std::string& label,
                    const RulePlan& rule, RulePlans& rules);

// Leaves the `count` best of trainings of a quarter of the length, at the density of the final one
// (search/rung.h), best first: validation is for few plans that are trained to the end. Leaves
// plans of one precision and form as they are. The first ones where hooks.stop ended it.
void shortlist(const MethodInput& input, std::size_t count, RulePlans& rules);

// Of plans to retrain.
Proposal proposal_of(RulePlans rules);

}  // namespace bet
