#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bet {

// How the values of a table are stored. The integer ones have a scale per row: of two bytes for
// int8 and int4, of one byte below (base/row_quantiser.h). The numbers are those of docs/format.md.
enum class Precision : std::uint8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt8 = 2,
  kInt4 = 3,
  kInt3 = 4,
  kInt2 = 5,
  kTernary = 6,  // five values in a byte
  kInt1 = 7
};

constexpr std::array<std::string_view, 8> kPrecisionNames = {"fp32", "fp16", "int8",    "int4",
                                                             "int3", "int2", "ternary", "int1"};

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
      return (size + 1) / 2;
    case Precision::kInt3:
      return (size + 3) / 4 + (size + 7) / 8;
    case Precision::kInt2:
      return (size + 3) / 4;
    case Precision::kTernary:
      return (size + 4) / 5;
    case Precision::kInt1:
      break;
  }
  return (size + 7) / 8;
}

// Values that fill whole bytes, and how many of them: a row of more values takes as many times
// that.
struct ValueCell {
  std::uint32_t values = 1;
  std::uint32_t bytes = 4;
};
constexpr ValueCell value_cell(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return {1, 4};
    case Precision::kFloat16:
      return {1, 2};
    case Precision::kInt8:
      return {1, 1};
    case Precision::kInt4:
      return {2, 1};
    case Precision::kInt3:
      return {8, 3};
    case Precision::kInt2:
      return {4, 1};
    case Precision::kTernary:
      return {5, 1};
    case Precision::kInt1:
      break;
  }
  return {8, 1};
}

// How the rows of each side are stored.
struct TablePrecision {
  Precision users = Precision::kFloat32;
  Precision items = Precision::kFloat32;

  constexpr TablePrecision() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): one precision is for both sides.
  constexpr TablePrecision(Precision both) : users(both), items(both) {}
  constexpr TablePrecision(Precision of_users, Precision of_items)
      : users(of_users), items(of_items) {}

  bool operator==(const TablePrecision&) const = default;
};

// Bytes of the scale of a row.
constexpr std::uint64_t scale_bytes(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
    case Precision::kFloat16:
      return 0;
    case Precision::kInt8:
    case Precision::kInt4:
      return 2;
    default:
      return 1;
  }
}

// Bytes of a row of `size` values with its scale; a row without values has none.
constexpr std::uint64_t row_bytes(Precision precision, std::uint64_t size) {
  return size == 0 ? 0 : value_bytes(precision, size) + scale_bytes(precision);
}

}  // namespace bet
