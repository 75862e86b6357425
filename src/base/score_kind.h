#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bet {

// How two vectors make a score. The numbers are those of docs/format.md.
enum class ScoreKind : std::uint8_t { kDot = 0, kCosine = 1 };

constexpr std::array<std::string_view, 2> kScoreNames = {"dot", "cosine"};

constexpr std::string_view score_name(ScoreKind kind) {
  return kScoreNames[static_cast<std::size_t>(kind)];
}

}  // namespace bet
