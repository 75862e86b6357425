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
  MaskedTable table;        // the best weights (early stop) or the last (fixed steps), on the CPU
  std::uint64_t steps = 0;  // that were made
  std::uint64_t best_step = 0;  // after which the best weights were
  Metrics validation;           // of the best weights; zero for a training of fixed steps
  bool stopped = false;         // by the hook
  std::vector<Measurement> history;
  double step_seconds = 0;  // mean of a step, without measurements and saves; of all plans together
  double measure_seconds = 0;  // the last measurement of all plans
};

// Trains plans side by side on `graph`, on its device, until validation no longer improves
// (Schedule) for any of them, and keeps each one's best weights; each result is as if the plan had
// been trained alone, up to rounding. `state`, if not null, is a checkpoint of this very training
// to go on from.
std::vector<TrainingResult> train_to_convergence(const Split& split, const Graph& graph,
                                                 std::span<const SizePlan> plans,
                                                 const ModelOptions& model,
                                                 const Schedule& schedule,
                                                 const TrainingHooks& hooks,
                                                 const Checkpoint* state = nullptr);

// Trains plans side by side for a fixed number of steps and keeps the last weights; validation is
// not looked at.
std::vector<TrainingResult> train_steps(const Graph& graph, std::span<const SizePlan> plans,
                                        const ModelOptions& model, const Schedule& schedule,
                                        std::uint64_t num_steps, const TrainingHooks& hooks,
                                        const Checkpoint* state = nullptr);

}  // namespace bet
