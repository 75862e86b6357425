#pragma once

#include <cstddef>
#include <cstdint>

#include "base/precision.h"

namespace bet {

// Rows of one size, stored one after the other.
struct RowGroup {
  const std::byte* values = nullptr;
  const std::byte* scales = nullptr;  // scale_bytes() each; null without scales
  std::uint32_t count = 0;
  std::uint32_t size = 0;  // columns
};

// Values behind the size of the rows that the kernels of the precisions below four bits read of a
// query: any finite ones.
constexpr std::size_t kQueryPadding = 7;

// Rows of the precisions below four bits that are multiplied together, from the first of a group
// on. What is left at its end is multiplied row by row, where sums have another order.
constexpr std::uint32_t kRowsTogether = 4;

// The vector that rows are multiplied with.
struct KernelQuery {
  const float* values = nullptr;  // with kQueryPadding behind them
  const float* even = nullptr;    // its even columns; used for int4 alone
  const float* odd = nullptr;     // its odd columns; used for int4 alone
};

// The hot loops of serving, compiled for each instruction set.
struct RowKernels {
  const char* name;
  // out[r] = the first `size` columns of the query . row r
  void (*dots)(Precision precision, const RowGroup& rows, const KernelQuery& query, float* out);
  // sum += weights[r] * row r; rows of weight 0 are not read
  void (*add)(Precision precision, const RowGroup& rows, const float* weights, float* sum);
};

// The fastest set that this machine runs, and all sets that it runs, plain first.
const RowKernels& row_kernels();
std::size_t num_row_kernels();
const RowKernels& row_kernels(std::size_t index);

}  // namespace bet
