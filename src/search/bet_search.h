#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan_sampler.h"
#include "ranks/shared_tasks.h"
#include "search/run_store.h"
#include "search/rung.h"
#include "train/retraining.h"
#include "train/training_hooks.h"

namespace bet {

struct SearchOptions {
  std::uint32_t num_plans = 24;  // tried in addition to the rules
  std::uint32_t finalists = 2;   // plans of the last rung, in addition to the best rule
  std::uint64_t seed = 1;
  bool only_stored = false;  // train nothing: end with what is in the store
  // What several ranks prepare for while one finds the length; the result does not depend on it.
  bool expects_few_data = false;
};

struct SearchResult {
  std::vector<Trial> trials;    // every training, in order
  std::size_t num_lengths = 0;  // of them, the first: they found the length
  // Of `trials`: one of the plan that is best. None if it was stopped before it measured a plan.
  std::optional<std::size_t> chosen;
  KnownLoss loss;                 // of the chosen plan
  std::uint64_t num_planned = 0;  // trainings of a search that is not cut short
  std::uint64_t steps = 0;        // of all trainings together
  bool stopped = false;           // by the hook
};

// How many steps a search makes whose trainings are best with `length` of them, for the progress
// line; of the rules, and of the precisions and losses that it chooses among, there are so many.
std::uint64_t expected_steps(const SearchOptions& options, const BackboneKind& backbone,
                             std::size_t num_rules, std::size_t num_precisions,
                             std::size_t num_losses, std::uint64_t length);

// Searches for the plan that is best when it is trained: successive halving over real trainings
// (search/rung.h). The rules (plan/rule_plans.h) and plans drawn from the whole space are trained
// briefly; then plans near the best so far, nearer each time. The better of them and the best rules
// are trained longer, the best of these and the best rule longer still: the first by every loss
// that there is a choice of, then all by the one that was best for it, because which plan is better
// depends on the loss, and by one of another kind if it is about as good. The three best pairs of a
// plan and a loss and the best pair of a rule are trained to the whole length on another fold, and
// the best two of them on the third one, where the best one's temperature is found, too.
//
// Trainings that are made side by side are stored when they end. Resumes from those in `store`, to
// the same end as without the interruption. `has_plan`, if not empty, is called once a stop would
// leave a plan.
//
// All ranks of `tasks` make the same search, with the same arguments but for the hooks and the
// store, and divide its trainings: each ends with the same result. What earlier processes measured
// is in the store of rank 0, which has what others did when it ends its own. Who is trained beside
// whom depends on the number of ranks, and with it the last bits of scores.
//
// `samplers`: at least one, of plans of one form each, for one table; the search chooses among all.
SearchResult search_plans(std::span<const PlanSampler> samplers, RungTrainer& trainer,
                          RunStore& store, SharedTasks& tasks, const SearchOptions& options,
                          const TrainingHooks& hooks, const std::function<void()>& has_plan = {});

}  // namespace bet
