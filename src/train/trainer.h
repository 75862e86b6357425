#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "data/split.h"
#include "train/checkpoint.h"
#include "train/metrics.h"
#include "train/model_state.h"

namespace bet {

// What the caller of a training wants to hear of it, and may ask of it. All may be empty.
struct TrainingHooks {
  ProgressFn progress;
  // A line for the log.
  std::function<void(const std::string&)> log;
  // Asked before each step; true ends the training with the best so far.
  std::function<bool()> stop;
  // Asked before each step; true saves the state, if there is `save`, and throws Interrupted.
  std::function<bool()> leave;
  // Given the whole state every save_seconds, at the end, and after a measurement if saving has
  // taken little of the time since the last: enough to go on to the same bits.
  std::function<void(const Checkpoint&)> save;
  double save_seconds = 30;
};

// Throws Interrupted if hooks.leave says so, after `save`, which may be empty.
void leave_if_asked(const TrainingHooks& hooks, const std::function<void()>& save);

// One measurement of a training.
struct Measurement {
  std::uint64_t step = 0;
  double loss = 0;  // mean over the steps since the one before
  Metrics validation;
};

struct TrainingResult {
  // On the CPU: the best weights on validation; the last ones of a training that runs to the end of
  // its schedule, as linear decays and trainings of fixed steps do.
  ModelParameters table;
  std::uint64_t steps = 0;  // that were made, in trainings of every length
  // Steps that a training of this plan should have: after which the best weights were, or, with a
  // linear decay, the length of the whole schedule that was best at its end.
  std::uint64_t best_length = 0;
  Metrics validation;     // of these weights; zero for a training of fixed steps
  bool overfits = false;  // validation fell clearly on the way
  bool stopped = false;   // by the hook
  std::vector<Measurement> history;
  double step_seconds = 0;  // mean of a step, without measurements and saves; of all plans together
  double measure_seconds = 0;  // the last measurement of all plans
};

// Trains plans side by side on `graph`, on its device; each result is as if the plan had been
// trained alone, up to rounding. Without a linear decay until validation no longer improves for any
// of them (Schedule::patience), and the best weights are kept. A linear decay always runs to its
// end; where validation falls on the way (small data), shorter schedules are tried too
// (train/training_length.h). `state`, if not null, is a checkpoint of this very training to resume
// from.
std::vector<TrainingResult> train_to_convergence(const Split& split, const Graph& graph,
                                                 std::span<const SizePlan> plans,
                                                 const ModelOptions& model,
                                                 const Schedule& schedule,
                                                 const TrainingHooks& hooks,
                                                 const Checkpoint* state = nullptr);

// Trains plans side by side for all steps of the schedule and keeps the last weights; validation is
// not looked at.
std::vector<TrainingResult> train_steps(const Graph& graph, std::span<const SizePlan> plans,
                                        const ModelOptions& model, const Schedule& schedule,
                                        const TrainingHooks& hooks,
                                        const Checkpoint* state = nullptr);

}  // namespace bet
