#include "runtime/packed_codes.h"

#include <algorithm>
#include <cassert>

namespace bet {
namespace {

// As many digits of a base as fit into a byte.
struct Digits {
  unsigned base = 2;
  unsigned per_byte = 8;
};
constexpr Digits kOneBit = {2, 8};
constexpr Digits kTwoBits = {4, 4};
constexpr Digits kTernary = {3, 5};

// Appends the digits (code / divisor) mod base of the codes.
void append_digits(std::string& bytes, std::span<const std::uint8_t> codes, Digits digits,
                   unsigned divisor = 1) {
  for (std::size_t first = 0; first < codes.size(); first += digits.per_byte) {
    unsigned byte = 0;
    for (std::size_t j = std::min<std::size_t>(first + digits.per_byte, codes.size());
         j-- > first;) {
      byte = byte * digits.base + codes[j] / divisor % digits.base;
    }
    bytes.push_back(static_cast<char>(byte));
  }
}

// One more than the largest byte of `count` digits.
unsigned limit_of(Digits digits, unsigned count) {
  unsigned values = 1;
  for (; count > 0; --count) values *= digits.base;
  return values;
}

bool are_digits(const std::byte* row, std::uint32_t size, Digits digits) {
  const unsigned limit = limit_of(digits, digits.per_byte);
  bool good = true;
  for (std::uint32_t i = 0; i < size / digits.per_byte; ++i) {
    good &= std::to_integer<unsigned>(row[i]) < limit;
  }
  const unsigned rest = size % digits.per_byte;
  return good && (rest == 0 ||
                  std::to_integer<unsigned>(row[size / digits.per_byte]) < limit_of(digits, rest));
}

}  // namespace

void append_codes(std::string& bytes, std::span<const std::uint8_t> codes, Precision precision) {
  switch (precision) {
    case Precision::kInt3:
      append_digits(bytes, codes, kTwoBits);
      return append_digits(bytes, codes, kOneBit, kTwoBits.base);
    case Precision::kInt2:
      return append_digits(bytes, codes, kTwoBits);
    case Precision::kTernary:
      return append_digits(bytes, codes, kTernary);
    default:
      assert(precision == Precision::kInt1);
      return append_digits(bytes, codes, kOneBit);
  }
}

bool are_codes(const std::byte* row, std::uint32_t size, Precision precision) {
  switch (precision) {
    case Precision::kInt3:
      return are_digits(row, size, kTwoBits) &&
             are_digits(row + value_bytes(Precision::kInt2, size), size, kOneBit);
    case Precision::kInt2:
      return are_digits(row, size, kTwoBits);
    case Precision::kTernary:
      return are_digits(row, size, kTernary);
    default:
      assert(precision == Precision::kInt1);
      return are_digits(row, size, kOneBit);
  }
}

}  // namespace bet
