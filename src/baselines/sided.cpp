#include <cstdio>

#include "plan/rule_plans.h"
#include "search/method.h"
#include "search/shortlist.h"

namespace bet {
namespace {

Proposal propose_sided(const MethodInput& input) {
  // With a graph the side without parameters gets its vectors from its neighbours.
  const bool ends = find_backbone(input.training.model.backbone).uses_graph;
  const std::vector<PlanSampler> samplers = input.samplers();
  const PlanLimit& limit = samplers.front().limit();
  RulePlans rules;
  const auto add = [&](double share) {
    const bool whole = share == 0 || share == 1;
    char label[32];
    std::snprintf(label, sizeof(label), "user share %g", share);
    add_rule_plans(
        samplers, label,
        [&](const PlanSampler& sampler, Precision precision) -> std::optional<SizePlan> {
          if (sampler.limit().form == StoredForm::kVectors) return std::nullopt;
          if (!whole || !ends) return sampler.sided_plan(share, precision);
          return sampler.with_min_dim(0).sided_plan(share, precision);
        },
        rules);
  };
  if (input.options.user_share) {
    add(*input.options.user_share);
  } else {
    for (const double share : sided_shares(ends, limit.precisions.size() > 1)) add(share);
  }
  // Vectors have no share: both sides are as wide.
  if (!input.options.user_share || limit.form == StoredForm::kVectors) {
    add_rule_plans(
        samplers, "one width",
        [](const PlanSampler& sampler, Precision precision) -> std::optional<SizePlan> {
          if (sampler.limit().form == StoredForm::kTable) return std::nullopt;
          return sampler.frequency_plan(0, precision);
        },
        rules);
  }
  constexpr std::size_t kRetrained = 3;
  shortlist(input, kRetrained, rules);
  return proposal_of(std::move(rules));
}

bool has_share(const MethodOptions& options) { return options.user_share.has_value(); }

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
                           .chooses_precision = true,
                           .fills = true,
                           .proposes_one_plan = has_share,
                           .propose = propose_sided,
                           .options = options_of_sided};

}  // namespace bet
