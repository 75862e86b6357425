#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/run_progress.h"

namespace bet {

// Shows progress on stderr: one line that is written over, or on something that is not a terminal a
// plain line every ten seconds and at the end of a phase.
class ProgressLine {
 public:
  explicit ProgressLine(std::vector<Phase> phases = {});
  // Ends an open line as it is.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);
  // The phase under way will end before its time.
  void cut_short() { cut_short_ = true; }
  // The phase under way is over.
  void end();

  RunProgress& progress() { return progress_; }

 private:
  using Clock = std::chrono::steady_clock;

  void write(const std::string& text) const;

  RunProgress progress_;
  bool terminal_;
  bool open_ = false;       // a line that is not ended
  bool under_way_ = false;  // a phase
  bool cut_short_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = Clock::now();
};

}  // namespace bet
