#pragma once

#include <vector>

#include "run/fit_options.h"
#include "run/run_progress.h"
#include "search/pretrained.h"

namespace bet {

// The phases of a run and about how much work each is, in steps times columns of the table. Of
// resolved options. With `nothing_to_cut` the full table is trained and there is nothing to search
// for.
std::vector<Phase> phases_of(const FitOptions& resolved, const Split& split, bool nothing_to_cut);

// Sets the work of training plans whose columns are known better: of all together, and of the
// widest. A full-size model that was trained with the same schedule tells how soon such a training
// ends; null if there is none.
void set_training_work(RunProgress& progress, double columns, double widest,
                       const Schedule& schedule, const Pretrained* full);

}  // namespace bet
