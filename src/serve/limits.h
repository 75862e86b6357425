#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace bet {

// The most items, or users, that one HTTP request may ask for in a list.
inline constexpr std::uint64_t kMaxListLength = 1'000;

inline std::size_t checked_k(std::uint64_t k) {
  BET_CHECK(k >= 1 && k <= kMaxListLength, "k is ", k, ", not 1 to ", kMaxListLength);
  return static_cast<std::size_t>(k);
}

}  // namespace bet
