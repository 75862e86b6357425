#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "model/batch.h"
#include "model/model_parameters.h"

namespace bet {

// For each of the models side by side in `vectors` (float [rows, stride]): the mean over the
// batch's entries of softplus(score_negative - score_positive), a score being the dot product of
// two rows, and the mean over an entry's negatives where it has a pool of them. A tensor [models]
// with a gradient for `vectors`, which must be asked for with the same factor for all models. The
// result does not depend on the number of threads. The batch must outlive the backward pass.
at::Tensor bpr_loss(const at::Tensor& vectors, std::span<const ModelColumns> models,
                    const Batch& batch);

}  // namespace bet
