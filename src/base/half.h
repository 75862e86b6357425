#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace bet {

// IEEE 754 half precision by hand: C++20 has no such type. `static` keeps the copies of the
// kernels' instruction sets apart.

// Without branches: loops over many become vector code.
BET_HOST_DEVICE [[gnu::always_inline]] static inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7fffU) << 13;
  // The exponent's bias differs by 112; multiplying by 2^112 also normalises subnormals.
  const std::uint32_t scaled =
      __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) * 0x1p112F);
  const std::uint32_t special = magnitude | 0x7f800000U;  // infinity and NaN
  return __builtin_bit_cast(float, sign | (magnitude >= 0x0f800000U ? special : scaled));
}

// To the nearest, ties to even; too large becomes infinity.
BET_HOST_DEVICE static inline std::uint16_t float_to_half(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x7f800000U) {  // infinity, NaN
    return static_cast<std::uint16_t>(sign | 0x7c00U | (magnitude > 0x7f800000U ? 0x200U : 0U));
  }
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {
    // Subnormal: adding 0.5 rounds to multiples of 2^-24, the smallest half.
    const float rounded = __builtin_bit_cast(float, magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (__builtin_bit_cast(std::uint32_t, rounded) -
                                              __builtin_bit_cast(std::uint32_t, 0.5F)));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t rounded = magnitude - (112U << 23) + 0xfffU + odd;
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

}  // namespace bet
