#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/size_plan.h"

namespace bet {

// A size vector that CIESS visited: the sum of its sizes, and its score on validation after the
// search's short training.
struct VisitedSizes {
  std::uint64_t total = 0;
  double score = 0;
};

// The three vectors of best score among those above half of `total` and not above `total`, best
// first, as indices of `visited`; ties go to the earlier one. May be fewer, or none.
std::vector<std::size_t> visited_within(std::span<const VisitedSizes> visited, std::uint64_t total);

// The vector nearest above `total` or, if there is none, below it; ties go to the better score.
// `visited` is not empty.
std::size_t visited_nearest(std::span<const VisitedSizes> visited, std::uint64_t total);

// Sizes in the same proportions, as far as they go, that sum to `total` exactly; none below 1
// unless there is less than that for every row.
SizePlan scaled_plan(const SizePlan& plan, std::uint64_t total);

}  // namespace bet
