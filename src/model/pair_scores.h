#pragma once

#include <ATen/core/Tensor.h>

#include "model/scoring.h"

namespace bet {

// Scores of pairs of rows of `vectors` (float [rows, stride]), a user's and an item's: float
// [pairs]. `users` and `items` are int32 [pairs], on the vectors' device, items counted as the
// vectors' rows are.
at::Tensor pair_scores(const at::Tensor& vectors, const Scoring& scoring, const at::Tensor& users,
                       const at::Tensor& items);

}  // namespace bet
