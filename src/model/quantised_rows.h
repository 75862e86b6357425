#pragma once

#include <ATen/core/Tensor.h>

#include "model/model_parameters.h"

namespace bet {

// The values of the models' rows as files of their precisions store them (base/row_quantiser.h),
// float [rows, stride]; `parameters.values` itself where all models are fp32 or fp16. The gradient
// passes as if the rows were not quantised (the straight-through estimator), so that training
// finds values whose quantised rows are good. Models that store vectors have their values as they
// are.
at::Tensor quantised_rows(const ModelParameters& parameters);

// The same of the vectors, float [rows, stride], that a backbone made of `parameters`, for the
// models that store vectors; columns that are not stored are zero, and have no gradient. The
// vectors of the other models are left as they are.
at::Tensor quantised_vectors(const at::Tensor& vectors, const ModelParameters& parameters);

}  // namespace bet
