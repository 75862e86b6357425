#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"
#include "kernels/cuda_pairs.cuh"

namespace bet::cuda {
namespace {

// A warp for a row.
__global__ void normalise_kernel(const NormaliseArgs args, std::size_t num_rows) {
  const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / kLane;
  if (row >= num_rows || (args.needed != nullptr && args.needed[row] == 0)) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::size_t at = row * args.stride + args.first_column;
  float squares = 0;
  for (std::uint32_t c = lane; c < args.columns; c += kLane) {
    squares += args.in[at + c] * args.in[at + c];
  }
  squares = warp_sum(squares);
  const float inverse = squares > 0 ? 1.0F / sqrtf(squares) : 0.0F;
  if (lane == 0) args.inverse_norms[row] = inverse;
  for (std::uint32_t c = lane; c < args.columns; c += kLane) {
    args.out[at + c] = inverse * args.in[at + c];
  }
}

__global__ void normalise_back_kernel(const NormaliseBackArgs args, std::size_t num_rows) {
  const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / kLane;
  if (row >= num_rows) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::size_t at = row * args.stride + args.first_column;
  const bool needed = args.needed == nullptr || args.needed[row] != 0;
  float along = 0;
  for (std::uint32_t c = lane; needed && c < args.columns; c += kLane) {
    along += args.out[at + c] * args.gradient[at + c];
  }
  along = warp_sum(along);
  for (std::uint32_t c = lane; c < args.columns; c += kLane) {
    args.in_gradient[at + c] =
        needed ? args.inverse_norms[row] * (args.gradient[at + c] - along * args.out[at + c])
               : 0.0F;
  }
}

}  // namespace

void run_rows(const NormaliseArgs& args, std::size_t num_rows, Stream stream) {
  normalise_kernel<<<blocks_of_warps(num_rows), kThreads, 0, stream>>>(args, num_rows);
  check_launch("normalise_rows");
}

void run_rows(const NormaliseBackArgs& args, std::size_t num_rows, Stream stream) {
  normalise_back_kernel<<<blocks_of_warps(num_rows), kThreads, 0, stream>>>(args, num_rows);
  check_launch("normalise_back_rows");
}

}  // namespace bet::cuda
