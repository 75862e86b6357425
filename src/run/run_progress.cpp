#include "run/run_progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bet {

std::string duration_text(double seconds) {
  const auto whole = std::lround(seconds);
  char text[32];
  if (whole >= 3600) {
    std::snprintf(text, sizeof(text), "%ldh %02ldm", whole / 3600, whole / 60 % 60);
  } else {
    std::snprintf(text, sizeof(text), "%ldm %02lds", whole / 60, whole % 60);
  }
  return text;
}

void RunProgress::set_work(const std::string& name, double work) {
  for (Phase& phase : phases_) {
    if (phase.name == name) phase.work = work;
  }
}

void RunProgress::note(const Progress& progress, double now) {
  if (progress.phase != latest_.phase) {
    phase_start_ = now;
    first_done_ = progress.done;
  }
  latest_ = progress;
  now_ = now;
}

std::string RunProgress::line() const {
  std::string text = heading();
  if (latest_.total > 0) {
    char share[16];
    std::snprintf(share, sizeof(share), " %5.1f%%",
                  100.0 * std::min(latest_.done / latest_.total, 1.0));
    text += share;
  }
  if (!latest_.detail.empty()) text += "  " + latest_.detail;
  if (const double left = seconds_left(); left >= 0) text += "  ETA " + duration_text(left);
  return text;
}

std::string RunProgress::last_line(bool cut_short) const {
  std::string text = heading();
  if (!cut_short) {
    text += " 100.0%";
  } else if (latest_.total > 0) {
    char share[32];
    std::snprintf(share, sizeof(share), " cut short at %.1f%%",
                  100.0 * std::min(latest_.done / latest_.total, 1.0));
    text += share;
  }
  if (!latest_.detail.empty()) text += "  " + latest_.detail;
  return text;
}

std::size_t RunProgress::place_of(const std::string& phase) const {
  const auto find = [&](const std::string& name) {
    return std::find_if(phases_.begin(), phases_.end(),
                        [&](const Phase& one) { return one.name == name; });
  };
  auto found = find(phase);
  if (found == phases_.end()) found = find("");
  return static_cast<std::size_t>(found - phases_.begin());
}

std::string RunProgress::heading() const {
  const std::size_t place = place_of(latest_.phase);
  if (place == phases_.size()) return latest_.phase;
  const std::string number = std::to_string(place + 1) + "/" + std::to_string(phases_.size()) + " ";
  const Phase& phase = phases_[place];
  return number + (phase.name.empty() ? phase.title + ", " + latest_.phase : phase.title);
}

double RunProgress::seconds_left() const {
  constexpr double kLeastSeconds = 2;  // before there is a pace to speak of
  constexpr double kLeastShare = 0.01;
  constexpr double kEnoughSeconds = 20;  // of work whose first percent takes long
  constexpr double kUnknown = -1;
  const double elapsed = now_ - phase_start_;
  if (latest_.total <= 0 || elapsed < kLeastSeconds) return kUnknown;
  const double share = (latest_.done - first_done_) / latest_.total;
  if (share <= 0 || (share < kLeastShare && elapsed < kEnoughSeconds)) return kUnknown;
  double left = std::max(latest_.total - latest_.done, 0.0) / latest_.total * elapsed / share;
  const std::size_t place = place_of(latest_.phase);
  if (place == phases_.size()) return left;
  // Of the method's own phases nobody knows how many follow.
  if (phases_[place].name.empty()) return kUnknown;
  for (std::size_t later = place + 1; later < phases_.size(); ++later) {
    if (phases_[later].work <= 0 || phases_[place].work <= 0) return kUnknown;
    left += phases_[later].work / phases_[place].work * elapsed / share;
  }
  return left;
}

}  // namespace bet
