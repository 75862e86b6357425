#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/error.h"

namespace bet {

// rows * columns as a number of elements in memory. Both may come from a file: where addresses have
// 32 bits the product may be more than these reach, which is an error.
inline std::size_t memory_size(std::uint64_t rows, std::uint64_t columns) {
  std::uint64_t product = 0;
  const bool fits = !__builtin_mul_overflow(rows, columns, &product) &&
                    product <= std::numeric_limits<std::size_t>::max();
  if (!fits) {
    fail_as(ErrorKind::kInternal, "no memory for ", rows, " x ", columns, " numbers");
  }
  return static_cast<std::size_t>(product);
}

}  // namespace bet
