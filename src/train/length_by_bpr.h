#pragma once

#include <cstdint>
#include <optional>

#include "train/trainer.h"

namespace bet {

// How long a plan should be trained, by a loss that is not known yet, as a share of the schedule of
// `context`: the best length by BPR (train/training_length.h), in a training half as long. A
// softmax of too low a temperature overfits however much data there is, and would be cut short for
// it; where BPR overfits, data are few. None if hooks.stop ended it.
struct LengthByBpr {
  double share = 1;
  std::uint64_t steps = 0;  // made to find it
  double score = 0;         // at that length

  // Of a schedule of `whole` steps; at least one.
  std::uint64_t steps_of(std::uint64_t whole) const;
};
std::optional<LengthByBpr> length_by_bpr(const TrainingContext& context, const SizePlan& plan);

}  // namespace bet
