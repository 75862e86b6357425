#pragma once

#include <cstddef>
#include <cstdint>

#include "base/precision.h"

namespace bet {

// Rows of one size, as stored, one after the other.
struct RowGroup {
  const std::byte* values = nullptr;
  const std::byte* scales = nullptr;  // f16 each; null without scales
  std::uint32_t count = 0;
  std::uint32_t size = 0;  // columns
};

// A query as the kernels want it.
struct Query {
  const float* values = nullptr;
  const float* even = nullptr;  // its even and odd columns, for int4
  const float* odd = nullptr;
};

// The hot loops of serving, compiled for each instruction set.
struct RowKernels {
  const char* name;
  // out[r] = the first `size` columns of the query . row r
  void (*dots)(Precision precision, const RowGroup& rows, const Query& query, float* out);
  // sum += weights[r] * row r; rows of weight 0 are not read
  void (*add)(Precision precision, const RowGroup& rows, const float* weights, float* sum);
};

// The best that this machine runs, and all that it does, plain first.
const RowKernels& row_kernels();
std::size_t num_row_kernels();
const RowKernels& row_kernels(std::size_t index);

}  // namespace bet
