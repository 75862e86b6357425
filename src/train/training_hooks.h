#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/progress.h"
#include "train/checkpoint.h"

namespace bet {

// What the caller of a training is told about it, and may ask of it. Every member may be empty.
struct TrainingHooks {
  ProgressFn progress;
  // A line for the log.
  std::function<void(const std::string&)> log;
  // Asked before each step; true ends the training with the best model so far.
  std::function<bool()> stop;
  // Asked before each step; true saves the state, if there is `save`, and throws Interrupted.
  std::function<bool()> leave;
  // Given the whole state, enough to resume to the same bits: every save_seconds, at the end, and
  // after a measurement if saving has taken little of the time since the last one.
  std::function<void(const Checkpoint&)> save;
  double save_seconds = 30;
};

[[noreturn]] inline void throw_interrupted() { throw Interrupted("stopped before the end"); }

// Throws Interrupted if hooks.leave returns true.
inline void leave_if_asked(const TrainingHooks& hooks) {
  if (hooks.leave && hooks.leave()) throw_interrupted();
}

}  // namespace bet
