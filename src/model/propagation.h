#pragma once

#include <ATen/core/Tensor.h>

#include "model/graph.h"
#include "model/row_precision.h"

namespace bet {

// LightGCN's propagation: the mean of E, AE, A^2 E and A^3 E for the symmetrically normalised
// adjacency A of `graph`. `table` is float [nodes, stride]; the result has its shape. Its gradient
// is the same operation, because A is symmetric. With `touched` (uint8, by row, of a batch) only
// rows that are not 0 there are asked for, and only they have a gradient. `graph` and `touched`
// must outlive the backward pass.
at::Tensor propagate(const at::Tensor& table, const Graph& graph,
                     RowPrecision precision = RowPrecision::kFloat32,
                     const at::Tensor* touched = nullptr);

}  // namespace bet
