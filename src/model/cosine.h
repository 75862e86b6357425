#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "model/model_parameters.h"

namespace bet {

// The vectors of each model (float [rows, stride]) divided by their lengths, so that dot products
// are cosines; zero stays zero. With a gradient for `vectors`. Rows for which `needed` (uint8
// [rows], may be null) is 0 are not written, and their gradient is zero.
at::Tensor normalised(const at::Tensor& vectors, std::span<const ModelColumns> models,
                      const at::Tensor* needed = nullptr);

}  // namespace bet
