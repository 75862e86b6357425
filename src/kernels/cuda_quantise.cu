#include "base/row_quantiser.h"
#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"
#include "kernels/cuda_pairs.cuh"

namespace bet::cuda {
namespace {

// The sum, or the largest, over the threads of a warp; every thread has it.
template <typename T, typename Join>
__device__ T over_warp(T value, const Join& join) {
  for (unsigned distance = kLane / 2; distance > 0; distance /= 2) {
    value = join(value, __shfl_xor_sync(0xffffffffU, value, distance));
  }
  return value;
}

// A warp for a row. As on the CPU, squares are summed as doubles, so that both find the same scale.
__global__ void quantise_kernel(const QuantiseArgs args, std::size_t num_rows) {
  const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / kLane;
  if (row >= num_rows) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::size_t at = row * args.stride + args.first_column;
  const Precision precision = row < args.num_users ? args.precision.users : args.precision.items;
  if (!is_integer(precision)) {
    for (std::uint32_t c = lane; c < args.columns; c += kLane) args.out[at + c] = args.in[at + c];
    return;
  }
  const std::uint32_t size = args.sizes[row];
  RowScale scale;
  if (has_byte_scale(precision)) {
    double squares = 0;
    float count = 0;
    for (std::uint32_t c = lane; c < size; c += kLane) {
      const double value = args.in[at + c];
      squares += value * value;
      count += args.kept != nullptr ? args.kept[at + c] : 1.0F;
    }
    const auto sum = [](auto a, auto b) { return a + b; };
    squares = over_warp(squares, sum);
    count = over_warp(count, sum);
    scale = row_scale_of_code(code_of_scale(count > 0 ? squares / count : 0.0, precision));
  } else {
    float largest = 0;
    for (std::uint32_t c = lane; c < size; c += kLane) {
      largest = fmaxf(largest, fabsf(args.in[at + c]));
    }
    largest = over_warp(largest, [](float a, float b) { return fmaxf(a, b); });
    scale.scale = half_to_float(float_to_half(largest / highest_level(precision)));
  }
  for (std::uint32_t c = lane; c < args.columns; c += kLane) {
    float value = 0;
    if (c < size) value = level_of(args.in[at + c], precision, scale) * scale.scale;
    if (args.kept != nullptr) value *= args.kept[at + c];
    args.out[at + c] = value;
  }
}

}  // namespace

void run_rows(const QuantiseArgs& args, std::size_t num_rows, Stream stream) {
  quantise_kernel<<<blocks_of_warps(num_rows), kThreads, 0, stream>>>(args, num_rows);
  check_launch("quantise_rows");
}

}  // namespace bet::cuda
