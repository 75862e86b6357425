#pragma once

#include <ATen/core/Tensor.h>

#include "model/triple_batch.h"

namespace bet {

// Mean over the batch of softplus(score_negative - score_positive), a score being the dot product
// of two rows of `vectors` (float [rows, stride]). A scalar tensor with a gradient for `vectors`.
// The result does not depend on the number of threads. Batch and entries must outlive the backward
// pass.
at::Tensor bpr_loss(const at::Tensor& vectors, const TripleBatch& batch,
                    const BatchEntries& entries);

}  // namespace bet
