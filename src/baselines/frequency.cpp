#include <cstdio>

#include "plan/rule_plans.h"
#include "search/method.h"

namespace bet {
namespace {

Proposal propose(const MethodInput& input) {
  const Frequencies frequencies = train_frequencies(input.split);
  const PlanSampler sampler(input.shape, input.limit.value(), frequencies.users, frequencies.items);
  Proposal proposal;
  for (const double exponent : kFrequencyExponents) {
    char label[32];
    std::snprintf(label, sizeof(label), "exponent %g", exponent);
    proposal.plans.push_back(
        sampler.frequency_plan(exponent, input.limit->precisions.front().users));
    proposal.labels.emplace_back(label);
  }
  return proposal;
}

}  // namespace

// A row's size is proportional to its training frequency to a power, which is chosen on validation;
// the budget is spent exactly. Not a method of the paper but a rule that a search has to beat.
extern const MethodKind kFrequency;
const MethodKind kFrequency = {
    .name = "frequency", .about = "sizes by a power of the frequency", .propose = propose};

}  // namespace bet
