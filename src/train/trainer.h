#pragma once

#include <cstdint>
#include <functional>
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
  // Given the whole state every save_seconds, after each measurement and at the end: enough to go
  // on to the same bits.
  std::function<void(const Checkpoint&)> save;
  double save_seconds = 30;
};

// One measurement of a training.
struct Measurement {
  std::uint64_t step = 0;
  double loss = 0;  // mean over the steps since the one before
  Metrics validation;
};

struct TrainingResult {
  MaskedTable table;            // the best weights (early stop) or the last (fixed steps)
  std::uint64_t steps = 0;      // that were made
  std::uint64_t best_step = 0;  // after which the best weights were
  Metrics validation;           // of the best weights; zero for a training of fixed steps
  bool stopped = false;         // by the hook
  std::vector<Measurement> history;
};

// Trains a plan on `graph` until validation no longer improves (Schedule) and keeps the best
// weights. `state`, if not null, is a checkpoint of this very training to go on from.
TrainingResult train_to_convergence(const Split& split, const Graph& graph, const SizePlan& plan,
                                    const ModelOptions& model, const Schedule& schedule,
                                    const TrainingHooks& hooks, const Checkpoint* state = nullptr);

// Trains a plan for a fixed number of steps and keeps the last weights; validation is not looked
// at.
TrainingResult train_steps(const Graph& graph, const SizePlan& plan, const ModelOptions& model,
                           const Schedule& schedule, std::uint64_t num_steps,
                           const TrainingHooks& hooks, const Checkpoint* state = nullptr);

}  // namespace bet
