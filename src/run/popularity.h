#pragma once

#include "data/split.h"
#include "data/training_part.h"
#include "run/user_quality.h"
#include "train/evaluator.h"

namespace bet {

// The quality of one list for everybody: items by the number of their interactions in `part`, the
// lower item first among equals, without what the user has in `part`. What every model should be
// better than.
UserQuality popularity_quality(const Split& split, TrainingPart part, HeldOut held_out);

}  // namespace bet
