#include "base/error.h"
#include "search/method.h"

namespace bet {
namespace {

Proposal propose_full(const MethodInput& input) { return {.plans = {full_plan(input.shape)}}; }

Proposal propose_equal(const MethodInput& input) {
  const Frequencies frequencies = train_frequencies(input.split);
  const PlanSampler sampler(input.shape, input.limit.value(), frequencies.users, frequencies.items);
  std::optional<SizePlan> plan = sampler.equal_plan(sampler.limit().precisions.front());
  if (!plan) {
    fail_as(ErrorKind::kBudget, "the budget holds no parameter for each of the ",
            input.shape.num_rows(), " users and items: there are no equal sizes");
  }
  return {.plans = {std::move(*plan)}};
}

}  // namespace

// No cut at all: what all others are compared with.
extern const MethodKind kFull;
const MethodKind kFull = {
    .name = "full", .about = "no cut", .budget = BudgetUse::kCap, .propose = propose_full};

// ES: one size for all, rounded down as in the paper, so up to a parameter a row stays unused.
extern const MethodKind kEqual;
const MethodKind kEqual = {.name = "es", .about = "equal sizes", .propose = propose_equal};

}  // namespace bet
