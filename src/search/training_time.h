#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace bet {

// Plans that are trained side by side, and measured.
struct TrainingWork {
  double columns = 0;  // of all of them (columns_side_by_side)
  double plans = 1;
  std::uint64_t steps = 0;
};

// What a step of plans costs that are trained side by side, in steps of a column, on data as large
// as Gowalla.
double cost_of_step(double columns, double plans, const at::Device& device);

// How long the trainings of a search take, for its ETA, learned from those that were made: a step
// takes as long as one of its columns, and of more columns for what does not depend on them. These
// are few where all that a step touches is in the cache, and about 30 on a CPU with 20 million
// interactions. One thread.
class TrainingTime {
 public:
  explicit TrainingTime(const at::Device& device) : device_(device) {}

  // In seconds. Before anything was noted only ratios mean anything: the numbers are so small that
  // seconds can be added to them.
  double of(const TrainingWork& work) const { return unit_ * cost(work, more_columns_); }

  void note(const TrainingWork& made, double seconds);

  // Of a training whose steps are known only approximately: what was noted otherwise tells more.
  void note_roughly(const TrainingWork& made, double seconds);

 private:
  struct Made {
    TrainingWork work;
    double seconds = 0;
  };
  double cost(const TrainingWork& work, double more_columns) const;
  double unlikelihood(double more_columns) const;

  at::Device device_;
  std::vector<Made> made_;
  double more_columns_ = 0;
  double unit_ = 1e-12;  // seconds of a step of a column
};

}  // namespace bet
