#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace bet {

// A plain integer at the start of a text: "17", not "017".
struct PlainNumber {
  std::uint64_t value = 0;
  int length = 0;  // digits; 0 if there is none, a leading zero, or more than 7 digits
};

// Converts all digits at once, without a branch on their number. Reads 8 bytes at `p`, of which
// those after the number may hold anything; LineBlocks::kSlack keeps them readable.
inline PlainNumber scan_plain_number(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  word ^= 0x3030303030303030U;  // a digit's byte is its value now
  const std::uint64_t other = (word | (word + 0x7676767676767676U)) & 0x8080808080808080U;
  const int length = std::countr_zero(other) / 8;  // 8 if all are digits
  if (length == 0 || length == 8 || ((word & 0xff) == 0 && length > 1)) return {};
  // Moves the digits to the high end, zeros before them; then joins pairs, fours and eights.
  word <<= 64 - 8 * length;
  word = (word * 2561) >> 8 & 0x00ff00ff00ff00ffU;      // 10 * 2^8 + 1
  word = (word * 6553601) >> 16 & 0x0000ffff0000ffffU;  // 100 * 2^16 + 1
  word = (word * 42949672960001) >> 32;                 // 10000 * 2^32 + 1
  return {word, length};
}

}  // namespace bet
