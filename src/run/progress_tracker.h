#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/stopwatch.h"
#include "run/run_progress.h"

namespace bet {

// Who is told of progress. Both may be empty; they are called from the working thread.
struct ProgressCallbacks {
  std::function<void(const RunProgress&)> progress;  // often: it must be cheap
  // A phase is over, at its end or, `cut_short`, before.
  std::function<void(const RunProgress&, bool cut_short)> phase_ended;
};

// Turns the progress that work reports into that of the whole run, phase by phase.
class ProgressTracker {
 public:
  ProgressTracker(std::vector<Phase> phases, ProgressCallbacks callbacks)
      : progress_(std::move(phases)), callbacks_(std::move(callbacks)) {}

  // Another phase than before ends the one before.
  void note(const Progress& progress);
  // The phase in progress will end before its time.
  void cut_short() { cut_short_ = true; }
  // The phase in progress, if there is one, is over.
  void end_phase();

  RunProgress& progress() { return progress_; }

 private:
  RunProgress progress_;
  ProgressCallbacks callbacks_;
  bool under_way_ = false;
  bool cut_short_ = false;
  Stopwatch watch_;
};

}  // namespace bet
