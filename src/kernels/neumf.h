#pragma once

#include "kernels/kernels.h"

namespace bet {

// The BPR terms of a batch where the score of rows u and v is NeuMF's:
//   sum over products c of head[c] * u[c] * v[c] +
//   sum over hidden units c of head[c] * max(u[c] + v[c], 0),
// whose slope at 0 is 0. The columns of a row are first the products, then the hidden units, padded
// with columns whose head is zero. LossArgs' first_column and columns are ignored: there is
// one model in a table, and contributions are written from column 0 to the stride, zero behind the
// last hidden unit.
struct NeuMfArgs : LossArgs {
  std::uint32_t num_products = 0;  // a multiple of 8
  std::uint32_t num_hidden = 0;    // a multiple of 8
  const float* head = nullptr;     // by column
  float* head_gradient = nullptr;  // out, by column: of the batch's mean loss. The CPU's kernels
                                   // write their own range's part of it
};

}  // namespace bet
