#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "plan/size_plan.h"

namespace bet {

// The embedding table of a plan: users first, then items; row n keeps its first size(n) columns,
// the others are zero and never move. No wider than the plan's largest size, so memory and work
// shrink with the budget.
struct MaskedTable {
  at::Tensor values;  // float [rows, row_stride(width)], requires a gradient
  at::Tensor sizes;   // int16 [rows]
  std::uint32_t width = 0;

  std::int64_t num_rows() const { return values.size(0); }
};

// Drawn from N(0, deviation^2). The value at a row and column depends on them and the seed alone,
// so a narrow plan starts as the prefix of a wide one.
MaskedTable make_table(const SizePlan& plan, std::uint64_t seed, double deviation = 0.01);

}  // namespace bet
