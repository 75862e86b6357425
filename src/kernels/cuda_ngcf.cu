#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"

namespace bet::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLane = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

__device__ inline float sum_of_warp(float value) {
  for (unsigned distance = kLane / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

// What dropout does to the columns of a row: 0, or one over the share that is kept.
class RowDropout {
 public:
  __device__ RowDropout(const Dropout& drop, std::uint32_t row) : drop_(drop) {
    if (drop.threshold == 0) return;
    word_ = drop_row(drop_key(drop, drop.record->steps), row);
    scale_ = 1.0F / (1.0F - static_cast<float>(drop.threshold) * 0x1p-32F);
  }
  __device__ float scale(std::uint32_t column) const {
    if (drop_.threshold == 0) return 1.0F;
    return is_dropped(drop_, word_, column) ? 0.0F : scale_;
  }

 private:
  const Dropout& drop_;
  std::uint32_t word_ = 0;
  float scale_ = 1;
};

// A warp for a row.
__global__ void __launch_bounds__(kThreads)
    activate_kernel(const ActivateArgs args, std::uint32_t num_rows) {
  const std::uint32_t row = (blockIdx.x * kThreads + threadIdx.x) / kLane;
  if (row >= num_rows) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const float* const y = args.in + std::size_t{row} * args.columns;
  float* const h = args.hidden + std::size_t{row} * args.columns;
  float* const n = args.normalised + std::size_t{row} * args.normalised_stride;
  const RowDropout drop(args.drop, row);
  float squares = 0;
  for (std::uint32_t c = lane; c < args.columns; c += kLane) {
    const float in = y[c];
    const float active = (in > 0 ? in : ActivateArgs::kSlope * in) * drop.scale(c);
    squares += active * active;
    h[c] = active;
  }
  const float norm = sqrtf(sum_of_warp(squares));
  const float inverse = norm > ActivateArgs::kLeastNorm ? 1.0F / norm : 0.0F;
  if (lane == 0) args.inverse_norms[row] = inverse;
  for (std::uint32_t c = lane; c < args.columns; c += kLane) n[c] = inverse * h[c];
}

// As the CPU's: the gradient for h is (g - n (n . g)) / |h|.
__global__ void __launch_bounds__(kThreads)
    activate_back_kernel(const ActivateBackArgs args, std::uint32_t num_rows) {
  const std::uint32_t row = (blockIdx.x * kThreads + threadIdx.x) / kLane;
  if (row >= num_rows) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const float* const h = args.hidden + std::size_t{row} * args.columns;
  const float* const g = args.normalised_gradient + std::size_t{row} * args.normalised_stride;
  const float inverse = args.inverse_norms[row];
  float along = 0;
  for (std::uint32_t c = lane; c < args.columns; c += kLane) along += h[c] * g[c];
  along = sum_of_warp(along) * inverse * inverse;
  const RowDropout drop(args.drop, row);
  for (std::uint32_t c = lane; c < args.columns; c += kLane) {
    const std::size_t offset = std::size_t{row} * args.columns + c;
    float gradient = inverse * (g[c] - along * h[c]);
    if (args.hidden_gradient != nullptr) gradient += args.hidden_gradient[offset];
    const float slope = h[c] > 0 ? 1.0F : ActivateArgs::kSlope;
    args.out[offset] = gradient * slope * drop.scale(c);
  }
}

// A warp for a row.
__global__ void __launch_bounds__(kThreads)
    split_kernel(const SplitArgs args, std::uint32_t num_rows) {
  const std::uint32_t row = (blockIdx.x * kThreads + threadIdx.x) / kLane;
  if (row >= num_rows) return;
  const std::size_t columns = args.columns;
  const float* const g = args.gradient + row * 2 * columns;
  const float* const s = args.x + row * 2 * columns;
  bool dropped = false;
  if (args.drop.threshold != 0) {
    const std::uint32_t key = drop_key(args.drop, args.drop.record->steps);
    dropped = is_dropped(args.drop, drop_row(key, row), row);
  }
  const float self = dropped ? 0.0F : args.scale[row];
  for (std::uint32_t c = threadIdx.x % kLane; c < columns; c += kLane) {
    const std::size_t offset = row * columns + c;
    const float for_product = g[columns + c];
    const float for_s = g[c] + for_product * args.e[offset];
    float for_e = for_product * s[c] + self * for_s;
    if (args.extra != nullptr) for_e += args.extra[std::size_t{row} * args.extra_stride + c];
    args.s_gradient[offset] = for_s;
    args.e_gradient[offset] = for_e;
  }
}

unsigned blocks_for(std::size_t num_rows) {
  return static_cast<unsigned>((num_rows * kLane + kThreads - 1) / kThreads);
}

}  // namespace

void run_rows(const ActivateArgs& args, std::size_t num_rows, Stream stream) {
  activate_kernel<<<blocks_for(num_rows), kThreads, 0, stream>>>(
      args, static_cast<std::uint32_t>(num_rows));
  check_launch("activate_rows");
}

void run_rows(const ActivateBackArgs& args, std::size_t num_rows, Stream stream) {
  activate_back_kernel<<<blocks_for(num_rows), kThreads, 0, stream>>>(
      args, static_cast<std::uint32_t>(num_rows));
  check_launch("activate_back_rows");
}

void run_rows(const SplitArgs& args, std::size_t num_rows, Stream stream) {
  split_kernel<<<blocks_for(num_rows), kThreads, 0, stream>>>(args,
                                                              static_cast<std::uint32_t>(num_rows));
  check_launch("split_rows");
}

}  // namespace bet::cuda
