#pragma once

#include <cstdint>
#include <optional>

#include "train/trainer.h"

namespace bet {

// How long a plan should be trained by BPR, which also tells whether data are few: a softmax of too
// low a temperature overfits however much data there is, BPR does not. Trains half the schedule of
// `context`, and shorter ones (train/training_length.h). None if hooks.stop ended it. Of a plan of
// vectors, by which BPR overfits too, the table of these sizes is trained.
struct LengthByBpr {
  std::uint64_t length = 0;  // the best; half of the schedule's at most
  double rate = 1;           // the best for it, as a multiple of the schedule's
  bool is_short = false;     // less than that half was best at the usual rate: data are few
  std::uint64_t steps = 0;   // made to find it
  double score = 0;          // on validation, at that length
};
std::optional<LengthByBpr> length_by_bpr(const TrainingContext& context, const SizePlan& plan,
                                         Rates rates = Rates::kAny);

}  // namespace bet
