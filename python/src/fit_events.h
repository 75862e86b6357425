#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>

#include "run/fit.h"

namespace bet::python {

// What a run reports, handed to an object of Python's with message(text), progress(..) and
// phase_ended(..), and what Ctrl-C asks of it. Used by the thread that called, which holds no GIL.
class FitEvents {
 public:
  // What the first Ctrl-C does; a second one always leaves.
  enum class AtInterrupt { kStop, kLeave };

  // `listener` may be None.
  FitEvents(pybind11::object listener, AtInterrupt at_interrupt)
      : listener_(std::move(listener)), at_interrupt_(at_interrupt) {}

  FitCallbacks callbacks();

  // Throws again what the listener, or a handler of a signal, threw. With the GIL.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Calls a method of the listener, if there is one. What it throws ends the run.
  template <typename... Arguments>
  void tell(const char* method, const Arguments&... arguments);
  void look_for_signals();

  pybind11::object listener_;
  AtInterrupt at_interrupt_;
  int interrupts_ = 0;
  std::exception_ptr failure_;
  Clock::time_point last_look_, last_progress_;
};

}  // namespace bet::python
