#pragma once

#include "kernels/kernels.h"

namespace bet {

// The BPR terms of a batch, as in BprArgs, where the score of rows u and v of `vectors` is NeuMF's:
//   sum over products c of head[c] * u[c] * v[c] +
//   sum over hidden units c of head[c] * max(u[c] + v[c], 0),
// whose slope at 0 is 0. The columns of a row are first the products, then the hidden units; both
// counts are multiples of 8, padded with columns whose head is zero.
struct NeuMfArgs {
  const float* vectors = nullptr;
  std::uint32_t stride = 0;              // of vectors and contributions
  std::uint32_t num_products = 0;        // a multiple of 8
  std::uint32_t num_hidden = 0;          // a multiple of 8
  const float* head = nullptr;           // by column
  const std::uint32_t* rows = nullptr;   // by place, as in BprArgs
  const std::uint32_t* known = nullptr;  // by entry, as in BprArgs
  std::uint32_t size = 0;
  std::uint32_t pool = 1;          // 1 or kPool
  float* loss = nullptr;           // out: by entry, as in BprArgs
  float* contributions = nullptr;  // out: by place, as in BprArgs; columns behind the last are zero
  float* head_gradient = nullptr;  // out: by column, of the batch's mean loss. The executors write
                                   // it; CPU kernels give the sum over their own range

  std::uint32_t columns() const { return num_products + num_hidden; }
};

}  // namespace bet
