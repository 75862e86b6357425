#pragma once

#include <optional>

#include "run/run_details.h"
#include "search/method.h"

namespace bet {

// What a run measured on its way of plans whose rows all have one size; none where it measured
// none. `retrained` is what became of the plans of `proposal`.
std::optional<RunDetails::EqualSizes> equal_sizes(const Proposal& proposal,
                                                  const RetrainingResult& retrained);

}  // namespace bet
