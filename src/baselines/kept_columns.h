#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "plan/size_plan.h"

namespace bet {

// The plan that keeps the columns of highest score of all rows together, as many as fit into
// `params`; ties go to the lower row, then column. `scores` is float [rows, shape.max_dim], on any
// device.
SizePlan keep_highest(const at::Tensor& scores, const TableShape& shape, std::uint64_t params);

// Values of a table, float [rows, stride], as one score a column, float [rows, shape.max_dim]:
// their magnitude or, where a column has two (TableShape::tables), the larger of both: the file
// stores them together.
at::Tensor magnitudes(const at::Tensor& values, const TableShape& shape);

}  // namespace bet
