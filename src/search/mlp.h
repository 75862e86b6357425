#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace bet {

// A two-layer perceptron whose weights are a stretch of one parameter vector, so that an optimiser
// and a checkpoint see a single tensor.
struct MlpShape {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  std::int64_t out = 0;

  std::int64_t num_params() const { return hidden * (in + 1) + out * (hidden + 1); }
};

// Appends weights and biases drawn from U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
void draw_mlp(const MlpShape& shape, RandomStream& random, std::vector<double>& params);

// x [rows, in] -> [rows, hidden]: linear, LeakyReLU 0.01. `params` is the stretch of this MLP.
at::Tensor mlp_hidden(const MlpShape& shape, const at::Tensor& params, const at::Tensor& x);
// [rows, hidden] -> [rows, out], linear.
at::Tensor mlp_output(const MlpShape& shape, const at::Tensor& params, const at::Tensor& hidden);

// LeakyReLU 0.01 after both layers.
at::Tensor mlp(const MlpShape& shape, const at::Tensor& params, const at::Tensor& x);

}  // namespace bet
