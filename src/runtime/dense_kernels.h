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

// The hidden units of some items, [count, units], to be added to those of a user.
struct HiddenUnits {
  const float* values = nullptr;
  std::uint32_t count = 0;
  std::uint32_t units = 0;
  std::uint32_t positive = 0;  // the first so many units are added, the others subtracted
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

// The fastest set that this machine runs, and all sets that it runs, plain first.
const DenseKernels& dense_kernels();
std::size_t num_dense_kernels();
const DenseKernels& dense_kernels(std::size_t index);

}  // namespace bet
