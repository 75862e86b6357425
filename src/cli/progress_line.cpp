#include "cli/progress_line.h"

#include <unistd.h>

#include <cstdio>

namespace bet {

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (open_) std::fputc('\n', stderr);
}

void ProgressLine::show(const RunProgress& progress) {
  const Clock::time_point now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000);
  if (now - last_shown_ < pause) return;
  last_shown_ = now;
  write(progress.line());
  open_ = terminal_;
}

void ProgressLine::end(const RunProgress& progress, bool cut_short) {
  write(progress.last_line(cut_short));
  if (terminal_) std::fputc('\n', stderr);
  open_ = false;
}

void ProgressLine::clear() {
  if (open_) std::fputs("\r\x1b[K", stderr);
  open_ = false;
}

ProgressCallbacks ProgressLine::callbacks() {
  return {[this](const RunProgress& progress) { show(progress); },
          [this](const RunProgress& progress, bool cut_short) { end(progress, cut_short); }};
}

void ProgressLine::write(const std::string& text) const {
  std::fprintf(stderr, terminal_ ? "\r\x1b[K%s%s" : "%s%s\n", heading_.c_str(), text.c_str());
}

}  // namespace bet
