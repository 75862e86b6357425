#include "fit_events.h"

namespace py = pybind11;

namespace bet::python {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
constexpr auto kBetweenProgress = std::chrono::milliseconds(100);

}  // namespace

template <typename... Arguments>
void FitEvents::tell(const char* method, const Arguments&... arguments) {
  if (failure_) return;
  const py::gil_scoped_acquire gil;
  try {
    if (!listener_.is_none()) listener_.attr(method)(arguments...);
  } catch (const py::error_already_set& error) {
    // Ctrl-C while the listener was at work means the run.
    if (error.matches(PyExc_KeyboardInterrupt)) {
      ++interrupts_;
    } else {
      failure_ = std::current_exception();
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

// Python's own handler only notes a signal; the thread that runs Python has to ask for it.
void FitEvents::look_for_signals() {
  const Clock::time_point now = Clock::now();
  if (now - last_look_ < kBetweenLooks) return;
  last_look_ = now;
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return;
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    PyErr_Clear();
    ++interrupts_;
    return;
  }
  failure_ = std::make_exception_ptr(py::error_already_set());
}

FitCallbacks FitEvents::callbacks() {
  FitCallbacks callbacks;
  callbacks.message = [this](const std::string& text) { tell("message", text); };
  callbacks.progress.progress = [this](const RunProgress& progress) {
    const Clock::time_point now = Clock::now();
    if (now - last_progress_ < kBetweenProgress) return;
    last_progress_ = now;
    const Progress& latest = progress.latest();
    tell("progress", latest.phase, latest.done, latest.total, latest.detail, progress.line());
  };
  callbacks.progress.phase_ended = [this](const RunProgress& progress, bool cut_short) {
    tell("phase_ended", progress.last_line(cut_short));
  };
  callbacks.stop = [this] {
    look_for_signals();
    return at_interrupt_ == AtInterrupt::kStop && interrupts_ > 0;
  };
  callbacks.leave = [this] {
    look_for_signals();
    return failure_ != nullptr || interrupts_ > (at_interrupt_ == AtInterrupt::kStop ? 1 : 0);
  };
  return callbacks;
}

}  // namespace bet::python
