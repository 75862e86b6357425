#pragma once

#include <chrono>
#include <string>

#include "base/progress.h"

namespace bet {

// Shows progress on stderr: one line that is written over, or on something that is no terminal a
// plain line every ten seconds. Percentage, detail and time left, by the pace since the phase
// began.
class ProgressLine {
 public:
  ProgressLine();
  void show(const Progress& progress);
  // Finishes the line, if one is open.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool open_ = false;
  std::string phase_;
  double first_done_ = 0;
  Clock::time_point phase_start_;
  Clock::time_point last_shown_;
};

}  // namespace bet
