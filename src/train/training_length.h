#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "train/trainer.h"

namespace bet {

// What the search for a length is made of.
struct LengthTrials {
  std::size_t num_plans = 0;
  // Trains these plans (by number) by one schedule, to its end.
  std::function<std::vector<TrainingResult>(std::span<const std::size_t> plans,
                                            const Schedule& schedule, const TrainingHooks& hooks,
                                            const Checkpoint* state)>
      train;
  // A table of the plan's shape, with any values.
  std::function<ModelParameters(std::size_t plan)> table_of;
};

// For every plan the length of a linear decay that is best at its end on validation: the schedule's
// own, or 1/2 to 1/32 of it where that is clearly better, as on small data. No decay is ever cut
// short. 1/8 and 1/32 are always tried; the others where one of these was better or where
// validation fell during the whole one (TrainingResult::overfits). Validation over the length may
// have two maxima (a high rate carries the model past a good state, a long decay brings it to
// another), so there is no descent along the lengths. What `hooks.save` is given is enough to
// resume from, as `state`, to the same bits.
std::vector<TrainingResult> train_with_best_length(const LengthTrials& trials,
                                                   const Schedule& schedule,
                                                   const TrainingHooks& hooks,
                                                   const Checkpoint* state);

}  // namespace bet
