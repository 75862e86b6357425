#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace bet {
namespace {

// By the definition of the format.
double naive_value(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  double value = 0;
  if (exponent == 0x1f) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

// To the nearest multiple of the distance between halves there, ties to even.
double naive_rounded(float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int step = std::max(std::ilogb(value) - 10, -24);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(double{value}, -step)), step);
  return std::abs(rounded) < 65'536 ? rounded
                                    : std::copysign(std::numeric_limits<double>::infinity(), value);
}

void expect_rounded(float value) {
  const double expected = naive_rounded(value);
  const std::uint16_t half = float_to_half(value);
  ASSERT_EQ(naive_value(half), expected) << std::hexfloat << value;
  ASSERT_EQ((half & 0x8000) != 0, std::signbit(value)) << std::hexfloat << value;
}

TEST(Half, EveryHalfHasItsValueAndComesBack) {
  for (std::uint32_t bits = 0; bits < 65'536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << bits;
    if ((half & 0x7fff) > 0x7c00) {  // a NaN stays a NaN; its payload may change
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_GT(float_to_half(value) & 0x7fff, 0x7c00) << bits;
      ASSERT_EQ(float_to_half(value) & 0x8000, half & 0x8000) << bits;
      continue;
    }
    ASSERT_EQ(double{value}, naive_value(half)) << bits;
    ASSERT_EQ(float_to_half(value), half) << bits;
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  // Between all neighbours: the middle, a little less and a little more.
  for (std::uint16_t half = 0; half < 0x7bff; ++half) {
    const auto next = static_cast<std::uint16_t>(half + 1);
    const auto middle = static_cast<float>((naive_value(half) + naive_value(next)) / 2);
    for (const float sign : {1.0F, -1.0F}) {
      for (const float value :
           {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)}) {
        expect_rounded(sign * value);
      }
    }
    ASSERT_EQ(float_to_half(middle), half % 2 == 0 ? half : next);
  }
}

TEST(Half, RoundsFloatsOfAllSizes) {
  for (std::uint64_t bits = 0; bits < 0x1'0000'0000U; bits += 4099) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(value)) expect_rounded(value);
  }
}

TEST(Half, TooLargeIsInfinite) {
  EXPECT_EQ(float_to_half(65'504.0F), 0x7bff);
  EXPECT_EQ(float_to_half(std::nextafter(65'520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(float_to_half(65'520.0F), 0x7c00);
  EXPECT_EQ(float_to_half(-65'520.0F), 0xfc00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::infinity()), 0x7c00);
}

}  // namespace
}  // namespace bet
