#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "run/progress_tracker.h"

namespace bet {

// Shows progress on stderr: one line that is written over, or on something that is not a terminal a
// plain line every ten seconds and at the end of a phase.
class ProgressLine {
 public:
  ProgressLine();
  // Ends an open line as it is.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // What every line begins with from now on.
  void set_heading(std::string heading) { heading_ = std::move(heading); }

  void show(const RunProgress& progress);
  void end(const RunProgress& progress, bool cut_short);

  // Removes an open line.
  void clear();

  // Show and end; the line must outlive them.
  ProgressCallbacks callbacks();

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::string& text) const;

  std::string heading_;
  bool terminal_;
  bool open_ = false;  // a line that is not ended
  Clock::time_point last_shown_ = Clock::now();
};

}  // namespace bet
