#include "search/method.h"

namespace bet {
namespace {

Proposal propose_full(const MethodInput& input) { return {.plans = {full_plan(input.shape)}}; }

Proposal propose_equal(const MethodInput& input) {
  return {.plans = {equal_plan(input.shape, input.params.value())}};
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
