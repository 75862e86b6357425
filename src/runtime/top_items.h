#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bet {

struct RankedItem {
  std::uint32_t row = 0;
  float score = 0;
};

// The k highest scores that are at least `min_score`, best first, lower rows first among equals;
// without the rows in `left_out` (ascending) and without NaNs.
std::vector<RankedItem> top_items(std::span<const float> scores, std::size_t k,
                                  std::span<const std::uint32_t> left_out,
                                  float min_score = -std::numeric_limits<float>::infinity());

}  // namespace bet
