#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bet {

struct RankedItem {
  std::uint32_t row = 0;
  float score = 0;
};

// The k highest scores, best first, lower rows first among equals; rows in `left_out` (ascending)
// are not taken, nor is what is not a number.
std::vector<RankedItem> top_items(std::span<const float> scores, std::size_t k,
                                  std::span<const std::uint32_t> left_out);

}  // namespace bet
