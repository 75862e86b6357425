#pragma once

#include <cstddef>
#include <cstdint>

namespace bet {

// A dense layer: out = inputs * weights + bias, row by row.
struct DenseLayer {
  const float* weights = nullptr;  // [inputs, outputs]
  const float* bias = nullptr;     // [outputs]; null: none
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
};

// The hidden units of some items, to be met by those of a user: [count, units].
struct HiddenUnits {
  const float* values = nullptr;
  std::uint32_t count = 0;
  std::uint32_t units = 0;
  std::uint32_t positive = 0;  // units before this one count, the others count against
};

// The hot loops of backbones with weights, compiled for each instruction set.
struct DenseKernels {
  const char* name;
  // out[r, :] = in[r, :] * weights + bias for `count` rows
  void (*product)(const DenseLayer& layer, const float* in, std::uint32_t count, float* out);
  // sum += row
  void (*add)(const float* row, std::uint32_t size, float* sum);
  // out[r] += sum of max(user + unit, 0) over the positive units of item r, minus that of the
  // others
  void (*hidden)(const HiddenUnits& items, const float* user, float* out);
};

// The best that this machine runs, and all that it does, plain first.
const DenseKernels& dense_kernels();
std::size_t num_dense_kernels();
const DenseKernels& dense_kernels(std::size_t index);

}  // namespace bet
