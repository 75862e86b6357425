#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bet {

// A plain non-negative decimal ("5", "1.8", "0.05") held exactly: digits / 10^scale.
struct Decimal {
  std::uint64_t digits = 0;
  int scale = 0;

  // floor(value * numerator / denominator), without rounding error; nothing if it exceeds 64 bits.
  std::optional<std::uint64_t> times(std::uint64_t numerator, std::uint64_t denominator = 1) const;
};

// Nothing unless the whole text consists of digits, at most 18, and at most one point with digits
// on both sides. No sign, exponent or blank.
std::optional<Decimal> parse_decimal(std::string_view text);

}  // namespace bet
