#include "run/progress_tracker.h"

namespace bet {

void ProgressTracker::note(const Progress& progress) {
  if (under_way_ && progress.phase != progress_.latest().phase) end_phase();
  progress_.note(progress, watch_.seconds());
  under_way_ = true;
  if (callbacks_.progress) callbacks_.progress(progress_);
}

void ProgressTracker::end_phase() {
  if (under_way_ && callbacks_.phase_ended) callbacks_.phase_ended(progress_, cut_short_);
  under_way_ = cut_short_ = false;
}

}  // namespace bet
