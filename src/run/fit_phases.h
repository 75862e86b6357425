#pragma once

#include <vector>

#include "run/fit_options.h"
#include "run/run_progress.h"
#include "search/pretrained.h"
#include "train/retraining.h"

namespace bet {

// About how many columns a plan has, whose parameters are this share of the full table's.
double plan_columns(std::uint32_t dim, double share);

// The phases of a run and about how much work each is, in what costs time: steps times columns
// times interactions and rows. Of resolved options. With `nothing_to_cut` the full table is trained
// and there is nothing to search for; `share` is that of the parameters of plans.
std::vector<Phase> phases_of(const FitOptions& resolved, const Split& split, bool nothing_to_cut,
                             double share);

// What is known better of plans before they are trained.
struct PlansToTrain {
  double columns = 0;  // of all together
  double widest = 0;
  PlanChoice choice = PlanChoice::kOnValidation;
  // A full-size model that was trained with the same schedule tells how soon such a training ends;
  // null if there is none.
  const Pretrained* full = nullptr;
};

// Sets the work of training them. Of resolved options.
void set_training_work(RunProgress& progress, const FitOptions& resolved, const Split& split,
                       const PlansToTrain& plans);

}  // namespace bet
