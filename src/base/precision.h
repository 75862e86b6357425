#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bet {

// How the values of a table are stored; int8 and int4 have one scale (2 bytes) per row. The numbers
// are those of docs/format.md.
enum class Precision : std::uint8_t { kFloat32 = 0, kFloat16 = 1, kInt8 = 2, kInt4 = 3 };

constexpr std::array<std::string_view, 4> kPrecisionNames = {"fp32", "fp16", "int8", "int4"};

constexpr std::string_view precision_name(Precision precision) {
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

constexpr std::optional<Precision> parse_precision(std::string_view name) {
  for (std::size_t i = 0; i < kPrecisionNames.size(); ++i) {
    if (kPrecisionNames[i] == name) return static_cast<Precision>(i);
  }
  return std::nullopt;
}

// Bytes of the values of a row of `size` columns, without its scale. Always inlined: a copy
// compiled for one kernel's instruction set must not be linked into code for another.
[[gnu::always_inline]] constexpr std::uint64_t value_bytes(Precision precision,
                                                           std::uint64_t size) {
  switch (precision) {
    case Precision::kFloat32:
      return 4 * size;
    case Precision::kFloat16:
      return 2 * size;
    case Precision::kInt8:
      return size;
    case Precision::kInt4:
      break;
  }
  return (size + 1) / 2;
}

// Bytes of the scale of a row.
constexpr std::uint64_t scale_bytes(Precision precision) {
  return precision == Precision::kInt8 || precision == Precision::kInt4 ? 2 : 0;
}

}  // namespace bet
