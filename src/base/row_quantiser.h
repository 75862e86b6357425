#pragma once

#include <cstdint>

#include "base/half.h"
#include "base/host_device.h"
#include "base/precision.h"

// How a row of the integer precisions is quantised (docs/format.md). A value is its level, an
// integer, times the row's scale. Training, file writer and GPU compile these functions, and agree
// to the bit: no product here can be fused with a sum, and mean squares are those of doubles, in
// which the order of the sum does not reach the code of the scale. `static` keeps the copies of the
// kernels' instruction sets apart.
//
// int8 and int4: levels -127 to 127 and -7 to 7; the scale is the row's largest magnitude over the
// highest level, in half precision.
//
// Below, levels are evenly spaced, two apart and symmetric about zero: -7, -5, ..., 7 (int3), -3,
// -1, 1, 3 (int2), -2, 0, 2 (ternary), -1, 1 (int1). The scale is in proportion to the row's root
// mean square, by the factor that makes the mean squared error of normally distributed values
// smallest, and rounded to an eighth of a power of two, which takes one byte.

namespace bet {

BET_HOST_DEVICE static inline constexpr bool is_integer(Precision precision) {
  return precision >= Precision::kInt8;
}

// Whether the scale is one byte, by the root mean square.
BET_HOST_DEVICE static inline constexpr bool has_byte_scale(Precision precision) {
  return precision >= Precision::kInt3;
}

// Levels of a precision with a byte for the scale. Code c of a file stands for level 2c - (L - 1).
BET_HOST_DEVICE static inline int num_levels(Precision precision) {
  switch (precision) {
    case Precision::kInt3:
      return 8;
    case Precision::kInt2:
      return 4;
    case Precision::kTernary:
      return 3;
    default:
      return 2;
  }
}

// The highest level of int8 and int4.
BET_HOST_DEVICE static inline float highest_level(Precision precision) {
  return precision == Precision::kInt8 ? 127.0F : 7.0F;
}

// The scale that a byte stands for: 2^((code - 160) / 8), and 0 for code 0.
BET_HOST_DEVICE static inline float scale_of_code(std::uint8_t code) {
  if (code == 0) return 0.0F;
  // The fractions of 2^(k/8) for k = 0 .. 7, rounded to floats.
  const std::uint32_t fractions[8] = {0x000000U, 0x0b95c2U, 0x1837f0U, 0x25fed7U,
                                      0x3504f3U, 0x45672aU, 0x5744fdU, 0x6ac0c7U};
  const std::uint32_t exponent = 127U - 20U + code / 8U;
  return __builtin_bit_cast(float, exponent << 23 | fractions[code % 8U]);
}

// The code of the scale of a row whose kept values have this mean square.
BET_HOST_DEVICE static inline std::uint8_t code_of_scale(double mean_square, Precision precision) {
  // The squares of scale / root mean square: steps are twice the scale.
  double ratio = 0.798 * 0.798;  // int1
  if (precision == Precision::kInt3) ratio = 0.293 * 0.293;
  if (precision == Precision::kInt2) ratio = 0.498 * 0.498;
  if (precision == Precision::kTernary) ratio = 0.612 * 0.612;
  const double square = mean_square * ratio;
  const auto bits = __builtin_bit_cast(std::uint64_t, square);
  const auto exponent = static_cast<int>(bits >> 52) - 1023;
  const double fraction =
      __builtin_bit_cast(double, (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  // Four times the binary logarithm of the square, rounded: the thresholds are 2^(1/8), 2^(3/8), ..
  const int quarters = static_cast<int>(fraction >= 0x1.172b83c7d517bp+0) +
                       static_cast<int>(fraction >= 0x1.4bfdad5362a27p+0) +
                       static_cast<int>(fraction >= 0x1.8ace5422aa0dbp+0) +
                       static_cast<int>(fraction >= 0x1.d5818dcfba487p+0);
  const int code = 160 + 4 * exponent + quarters;
  if (code < 1) return 0;
  return static_cast<std::uint8_t>(code < 255 ? code : 255);
}

// What turns the values of a row into levels.
struct RowScale {
  float scale = 0;
  float inverse = 0;  // with a byte for the scale: of the distance between two levels, or 0
};

BET_HOST_DEVICE static inline RowScale row_scale_of_code(std::uint8_t code) {
  const float scale = scale_of_code(code);
  return {scale, scale > 0 ? 0.5F / scale : 0.0F};
}

// The level of a value.
BET_HOST_DEVICE static inline float level_of(float value, Precision precision,
                                             const RowScale& row) {
  if (!has_byte_scale(precision)) {
    if (row.scale == 0) return 0.0F;
    // Rounding the scale may have made it too small: hence the limits.
    const float most = highest_level(precision);
    const float level = __builtin_rintf(value / row.scale);
    return level > most ? most : (level < -most ? -most : level);
  }
  const float x = value * row.inverse;
  if (precision == Precision::kTernary) {
    return x > 0.5F ? 2.0F : (x < -0.5F ? -2.0F : 0.0F);
  }
  const float half = precision == Precision::kInt3   ? 4.0F
                     : precision == Precision::kInt2 ? 2.0F
                                                     : 1.0F;
  float step = __builtin_floorf(x);
  step = step < -half ? -half : (step > half - 1 ? half - 1 : step);
  return 2 * step + 1;
}

}  // namespace bet
