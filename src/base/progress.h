#pragma once

#include <functional>
#include <string>

namespace bet {

// The state of a long task. The library reports it; the caller displays it.
struct Progress {
  std::string phase;   // "download", "train", ...
  double done = 0;     // in any unit
  double total = 0;    // in the same unit; 0 when unknown
  std::string detail;  // "best 0.1234", may be empty
};

// Called from the working thread, often: it must be cheap. May be empty.
using ProgressFn = std::function<void(const Progress&)>;

}  // namespace bet
