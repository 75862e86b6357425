#include "base/error.h"
#include "search/method.h"
#include "search/shortlist.h"

namespace bet {
namespace {

Proposal propose_full(const MethodInput& input) { return {.plans = {full_plan(input.shape)}}; }

Proposal propose_equal(const MethodInput& input) {
  RulePlans rules;
  add_rule_plans(
      input.samplers(), "",
      [](const PlanSampler& sampler, Precision precision) { return sampler.equal_plan(precision); },
      rules);
  if (rules.plans.empty()) {
    fail_as(ErrorKind::kBudget, "the budget holds no parameter for each of the ",
            input.shape.num_rows(), " users and items: there are no equal sizes");
  }
  constexpr std::size_t kRetrained = 2;
  shortlist(input, kRetrained, rules);
  return proposal_of(std::move(rules));
}

}  // namespace

// No cut at all: what all others are compared with.
extern const MethodKind kFull;
const MethodKind kFull = {.name = "full",
                          .about = "no cut",
                          .budget = BudgetUse::kCap,
                          .proposes_one_plan = always_one_plan,
                          .propose = propose_full};

// ES: one size for all, rounded down as in the paper, so up to a parameter a row stays unused.
extern const MethodKind kEqual;
const MethodKind kEqual = {.name = "es",
                           .about = "equal sizes",
                           .chooses_precision = true,
                           .proposes_one_plan = always_one_plan,
                           .propose = propose_equal};

}  // namespace bet
