#include "cli/progress_line.h"

#include <unistd.h>

#include <cstdio>

namespace bet {
namespace {

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  char text[32];
  if (whole >= 3600) {
    std::snprintf(text, sizeof(text), "%ldh %02ldm", whole / 3600, whole / 60 % 60);
  } else {
    std::snprintf(text, sizeof(text), "%ldm %02lds", whole / 60, whole % 60);
  }
  return text;
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (progress.phase != phase_) {
    end();
    phase_ = progress.phase;
    phase_start_ = last_shown_ = now;
    first_done_ = progress.done;
  }
  const bool finished = progress.total > 0 && progress.done >= progress.total;
  const auto pause = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000);
  if (now - last_shown_ < pause && !(finished && open_)) return;
  last_shown_ = now;
  std::string text = progress.phase;
  if (progress.total > 0) {
    char share[16];
    std::snprintf(share, sizeof(share), " %5.1f%%", 100.0 * progress.done / progress.total);
    text += share;
  }
  if (!progress.detail.empty()) text += "  " + progress.detail;
  const double elapsed = std::chrono::duration<double>(now - phase_start_).count();
  if (progress.done > first_done_ && progress.total > 0) {
    const double pace = (progress.done - first_done_) / elapsed;
    text += "  ETA " + duration_text((progress.total - progress.done) / pace);
  }
  std::fprintf(stderr, terminal_ ? "\r\x1b[K%s" : "%s\n", text.c_str());
  open_ = terminal_;
}

void ProgressLine::end() {
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

}  // namespace bet
