#include "search/training_time.h"

#include <algorithm>
#include <cmath>

namespace bet {
namespace {

// By how much seconds differ from what they should be, as logarithms: of a training on a machine
// that does other things as well, and of a step's columns on data of which nothing is known.
constexpr double kNoise = 0.3;
constexpr double kDoubt = 1;

}  // namespace

// Measured: a plan costs as much as two columns more on a CPU, where the batch's own costs are
// small, and a group as much as 64 more on an H200.
double cost_of_step(double columns, double plans, const at::Device& device) {
  return columns + (device.is_cpu() ? 2 * (plans + 1) : 64);
}

double TrainingTime::cost(const TrainingWork& work, double more_columns) const {
  constexpr double kMeasuring = 12;  // steps that measuring a plan takes as long as
  return static_cast<double>(work.steps) *
             (cost_of_step(work.columns, work.plans, device_) + more_columns) +
         kMeasuring * work.columns;
}

void TrainingTime::note(const TrainingWork& made, double seconds) {
  if (seconds <= 0) return;
  made_.push_back({made, seconds});
  double least = unlikelihood(0);
  more_columns_ = 0;
  for (double more = 2; more <= 256; more *= 1.5) {
    const double now = unlikelihood(more);
    if (now >= least) continue;
    least = now;
    more_columns_ = more;
  }
  double sum = 0;
  double costs = 0;
  for (const Made& one : made_) {
    sum += one.seconds;
    costs += cost(one.work, more_columns_);
  }
  unit_ = sum / costs;
}

void TrainingTime::note_roughly(const TrainingWork& made, double seconds) {
  if (made_.empty() && seconds > 0) unit_ = seconds / cost(made, 0);
}

// Of what was noted if a step took as long as one of so many more columns (chi-squared).
double TrainingTime::unlikelihood(double more_columns) const {
  double mean = 0;
  for (const Made& one : made_) {
    mean += std::log(one.seconds / cost(one.work, more_columns));
  }
  mean /= static_cast<double>(made_.size());
  double sum = 0;
  double changes = 0;
  for (const Made& one : made_) {
    const double off = std::log(one.seconds / cost(one.work, more_columns)) - mean;
    sum += off * off;
    changes += std::log(cost(one.work, more_columns) / cost(one.work, 0));
  }
  const double change = changes / static_cast<double>(made_.size());
  return sum / (kNoise * kNoise) + change * change / (kDoubt * kDoubt);
}

}  // namespace bet
