#include <cstdio>

#include "plan/rule_plans.h"
#include "search/method.h"
#include "search/shortlist.h"

namespace bet {
namespace {

Proposal propose_frequency(const MethodInput& input) {
  const std::vector<PlanSampler> samplers = input.samplers();
  RulePlans rules;
  for (const double exponent : kFrequencyExponents) {
    char label[32];
    std::snprintf(label, sizeof(label), "exponent %g", exponent);
    add_rule_plans(
        samplers, label,
        [&](const PlanSampler& sampler, Precision precision) {
          return sampler.frequency_plan(exponent, precision);
        },
        rules);
  }
  constexpr std::size_t kRetrained = 3;
  shortlist(input, kRetrained, rules);
  return proposal_of(std::move(rules));
}

}  // namespace

// A row's size is proportional to its training frequency to a power, which is chosen on validation;
// the budget is spent exactly. Not a method of the paper but a rule that a search has to beat.
extern const MethodKind kFrequency;
const MethodKind kFrequency = {.name = "frequency",
                               .about = "sizes by a power of the frequency",
                               .chooses_precision = true,
                               .fills = true,
                               .propose = propose_frequency};

}  // namespace bet
