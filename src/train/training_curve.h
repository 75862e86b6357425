#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train/checkpoint.h"
#include "train/metrics.h"

namespace bet {

// One measurement of a training.
struct Measurement {
  std::uint64_t step = 0;
  double loss = 0;     // mean over the steps since the previous measurement
  Metrics validation;  // num_users is 0 where only the loss was noted

  bool operator==(const Measurement&) const = default;
};

// The measurements of a training under a name in a checkpoint, and back; none where the checkpoint,
// of an earlier version, has none.
void save_curve(Checkpoint& checkpoint, const std::string& name,
                std::span<const Measurement> curve);
std::vector<Measurement> read_curve(const Checkpoint& checkpoint, const std::string& name);

}  // namespace bet
