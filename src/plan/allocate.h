#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bet {

// Turns values into sizes that sum to `total` exactly, where Eq. 6 of the BET paper only floors:
// clip(lambda * value, min_dim, max_dim) with lambda chosen for the sum, rounded down, and the
// remainder given to the largest fractions. `values` are descending, finite and not negative; the
// sizes are descending too. If all values are zero, they count as equal. Requires
// count * min_dim <= total <= count * max_dim.
std::vector<std::uint16_t> allocate_sizes(std::span<const double> values, std::uint64_t total,
                                          std::uint32_t min_dim, std::uint32_t max_dim);

}  // namespace bet
