#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "base/rank_group.h"
#include "model/batch.h"
#include "model/loss_options.h"
#include "model/model_parameters.h"

namespace bet {

// For each of the models side by side in `vectors` (float [rows, stride]): the mean over the
// batch's entries of the loss (LossKind) of an entry and its negatives, a score being the dot
// product of two rows, or their cosine. `losses` are those of the models, whose kinds of score must
// be the same. A tensor [models] with a gradient for `vectors`, which must be asked for with the
// same factor for all models. The result does not depend on the number of threads. The batch must
// outlive the backward pass.
//
// With `ranks` the vectors have this rank's columns alone, scores are summed over all ranks, and
// the loss is that of all columns. On the CPU, one model, dot products.
at::Tensor batch_loss(const at::Tensor& vectors, std::span<const ModelColumns> models,
                      const Batch& batch, std::span<const LossOptions> losses,
                      RankGroup* ranks = nullptr);

}  // namespace bet
