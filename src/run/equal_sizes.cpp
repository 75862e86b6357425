#include "run/equal_sizes.h"

#include <algorithm>
#include <map>
#include <span>

namespace bet {
namespace {

bool has_one_size(const SizePlan& plan) {
  const std::uint32_t size = plan.largest_size();
  return plan.user_counts()[size] == plan.user_sizes().size() &&
         plan.item_counts()[size] == plan.item_sizes().size();
}

RunDetails::EqualSizes about(const SizePlan& plan) {
  return {.size = plan.largest_size(),
          .precision = plan.precision(),
          .table = {plan.num_params(), plan.stored_bytes()}};
}

// Of the longest rung in which plans of one size were trained beside the chosen plan. The best loss
// of each counts.
std::optional<RunDetails::EqualSizes> in_search(std::span<const Trial> trials,
                                                std::uint64_t chosen) {
  struct Rung {
    const Trial* equal = nullptr;
    const Trial* chosen = nullptr;
  };
  std::map<std::uint64_t, Rung> rungs;  // by steps; all of the first fold
  const auto keep_better = [](const Trial*& best, const Trial& trial) {
    if (best == nullptr || trial.fitness > best->fitness) best = &trial;
  };
  for (const Trial& trial : trials) {
    if (trial.fold != 0) continue;
    Rung& rung = rungs[trial.steps];
    if (has_one_size(trial.sampled.plan)) keep_better(rung.equal, trial);
    if (trial.candidate == chosen) keep_better(rung.chosen, trial);
  }
  std::erase_if(rungs, [](const auto& entry) {
    return entry.second.equal == nullptr || entry.second.chosen == nullptr;
  });
  if (rungs.empty()) return std::nullopt;
  const auto& [steps, rung] = *rungs.rbegin();
  RunDetails::EqualSizes equal = about(rung.equal->sampled.plan);
  equal.search = {steps, rung.equal->fitness, rung.chosen->fitness};
  return equal;
}

}  // namespace

std::optional<RunDetails::EqualSizes> equal_sizes(const Proposal& proposal,
                                                  const RetrainingResult& retrained) {
  const auto plan = std::ranges::find_if(proposal.plans, has_one_size);
  if (plan != proposal.plans.end()) {
    RunDetails::EqualSizes equal = about(*plan);
    equal.validation =
        retrained.plan_validation.at(static_cast<std::size_t>(plan - proposal.plans.begin()));
    return equal;
  }
  if (proposal.trials.empty()) return std::nullopt;
  const std::size_t chosen = proposal.trial_of_plan.at(retrained.chosen);
  return in_search(std::span(proposal.trials).subspan(proposal.length_trials),
                   proposal.trials[chosen].candidate);
}

}  // namespace bet
