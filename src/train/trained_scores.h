#pragma once

#include <span>
#include <vector>

#include "train/evaluator.h"
#include "train/trainer.h"

namespace bet {

// The validation scores of plans that are trained from scratch, side by side, to the end of the
// schedule; `evaluator` measures on the split and the graph of `context`. Empty if hooks.stop ended
// it. One thread.
std::vector<double> trained_scores(const TrainingContext& context, std::span<const SizePlan> plans,
                                   const Evaluator& evaluator);

}  // namespace bet
