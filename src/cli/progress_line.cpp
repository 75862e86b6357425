#include "cli/progress_line.h"

#include <unistd.h>

#include <cstdio>

namespace bet {

ProgressLine::ProgressLine(std::vector<Phase> phases)
    : progress_(std::move(phases)), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (open_) std::fputc('\n', stderr);
}

void ProgressLine::show(const Progress& progress) {
  if (under_way_ && progress.phase != progress_.latest().phase) end();
  const Clock::time_point now = Clock::now();
  progress_.note(progress, std::chrono::duration<double>(now - start_).count());
  under_way_ = true;
  const auto pause = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000);
  if (now - last_shown_ < pause) return;
  last_shown_ = now;
  write(progress_.line());
  open_ = terminal_;
}

void ProgressLine::end() {
  if (under_way_) {
    write(progress_.last_line(cut_short_));
    if (terminal_) std::fputc('\n', stderr);
  }
  open_ = under_way_ = cut_short_ = false;
}

void ProgressLine::write(const std::string& text) const {
  std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", text.c_str());
}

}  // namespace bet
