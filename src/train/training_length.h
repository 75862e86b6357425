#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "train/trainer.h"

namespace bet {

// The trainings that a search for the best length makes.
struct LengthTrials {
  std::size_t num_plans = 0;
  // Trains these plans (by index) by one schedule, to its end.
  std::function<std::vector<TrainingResult>(std::span<const std::size_t> plans,
                                            const Schedule& schedule, const TrainingHooks& hooks,
                                            const Checkpoint* state)>
      train;
  // A table of the plan's shape, with any values.
  std::function<ModelParameters(std::size_t plan)> table_of;
  double usual_rate = 1;       // of these plans, as a multiple of the schedule's
  bool varies = false;         // with the initial values, as models with dense weights do
  bool lower_rates = false;    // whether they are tried
  std::uint64_t far_rate = 1;  // 1/.. of that rate, tried over the whole length; 1: none
};

// Finds for every plan the length of a linear decay that is best at its end on validation: the
// schedule's own, or 1/2 to 1/32 of it where that is clearly better, as on small data. No decay is
// ever cut short. 1/8 and 1/32 are always tried; the others where one of these was better or where
// validation fell during the whole one (TrainingResult::overfits). Validation over the length may
// have two maxima (a high rate carries the model past a good state, a long decay brings it to
// another), so the lengths are not searched by descent.
// Lower rates: where a shorter schedule is better, half the rate over about twice the length, as
// long as that is better still: the same way in smaller steps, which overfit less and depend less
// on the initial values. Where the whole is best, the whole at 1/far_rate, and if that is better at
// the rates around it. A checkpoint given to hooks.save can be passed as `state` to resume to the
// same bits.
std::vector<TrainingResult> train_with_best_length(const LengthTrials& trials,
                                                   const Schedule& schedule,
                                                   const TrainingHooks& hooks,
                                                   const Checkpoint* state);

}  // namespace bet
