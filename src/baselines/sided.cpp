#include <cstdio>

#include "plan/rule_plans.h"
#include "search/method.h"

namespace bet {
namespace {

SizePlan plan_of(double user_share, const MethodInput& input, const Frequencies& frequencies) {
  TableShape shape = input.shape;
  // With a graph the side without parameters gets its vectors from its neighbours.
  const bool whole = user_share == 0 || user_share == 1;
  if (whole && find_backbone(input.training.model.backbone).uses_graph) shape.min_dim = 0;
  return PlanSampler(shape, input.limit.value(), frequencies.users, frequencies.items)
      .sided_plan(user_share, input.limit->precisions.front());
}

Proposal propose(const MethodInput& input) {
  const Frequencies frequencies = train_frequencies(input.split);
  Proposal proposal;
  const auto add = [&](double share) {
    const SizePlan plan = plan_of(share, input, frequencies);
    // Near full size several shares have the same plan.
    for (const SizePlan& other : proposal.plans) {
      if (other == plan) return;
    }
    char label[32];
    std::snprintf(label, sizeof(label), "user share %g", share);
    proposal.plans.push_back(plan);
    proposal.labels.emplace_back(label);
  };
  if (input.options.user_share) {
    add(*input.options.user_share);
    return proposal;
  }
  const bool ends = find_backbone(input.training.model.backbone).uses_graph;
  for (const double share : sided_shares(ends)) add(share);
  return proposal;
}

std::vector<Option<MethodOptions>> options_of_sided() {
  return {make_option<MethodOptions>(
              {"user-share", "Search", Affects::kResult,
               "users' share of the budget (default: the best on validation)"},
              [](auto& o) -> auto& { return o.user_share; })
              .within(0, 1)};
}

}  // namespace

// Equal sizes within each side; the split of the budget between users and items is chosen on
// validation, in tenths. With a graph one side may get all of it. This is not a method of the
// paper but the rule that a search has to beat.
extern const MethodKind kSided;
const MethodKind kSided = {.name = "sided",
                           .about = "equal sizes within each side",
                           .propose = propose,
                           .options = options_of_sided};

}  // namespace bet
