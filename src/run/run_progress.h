#pragma once

#include <string>
#include <vector>

#include "base/progress.h"

namespace bet {

// A part of a long piece of work, in the order of the parts.
struct Phase {
  std::string name;   // as Progress::phase has it; empty: any that no other phase is called
  std::string title;  // for people
  double work = 0;    // about how much, in a unit that all phases share; 0: not known
};

// Makes lines of progress: "2/4 search  43.3%  best plan at 91.0 % of ...  ETA 1m 20s". The ETA is
// that of the whole: the phase in progress by its own pace, those after it by their work at that
// pace. It is left out where the work of one is not known, and until the pace is. Without phases
// each stands for itself and has no number.
class RunProgress {
 public:
  explicit RunProgress(std::vector<Phase> phases) : phases_(std::move(phases)) {}

  // Once it is known better.
  void set_work(const std::string& name, double work);

  // Notes the progress at `now`, in seconds.
  void note(const Progress& progress, double now);
  // Of the progress noted last.
  std::string line() const;
  // The same when its phase is over: at 100 %, or cut short.
  std::string last_line(bool cut_short) const;

  const Progress& latest() const { return latest_; }

 private:
  std::size_t place_of(const std::string& phase) const;  // in phases_; its size if not there
  std::string heading() const;
  double seconds_left() const;  // below 0 if not known

  std::vector<Phase> phases_;
  Progress latest_;
  double first_done_ = 0;  // of the phase
  double phase_start_ = 0;
  double now_ = 0;
};

// "1m 20s", "2h 05m".
std::string duration_text(double seconds);

}  // namespace bet
