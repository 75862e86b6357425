#pragma once

#include "data/split.h"
#include "plan/size_plan.h"
#include "run/run_details.h"

namespace bet {

// The sizes of a plan against the frequency of its rows. Ranks are in at most 100 bins a side,
// which grow in proportion to the rank.
RunDetails::Sizes sizes_by_rank(const SizePlan& plan, const Frequencies& frequencies);

}  // namespace bet
