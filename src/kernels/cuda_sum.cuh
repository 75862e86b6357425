#pragma once

namespace bet::cuda {

constexpr unsigned kSumThreads = 1024;

// The sum over the threads of a block of at most kSumThreads, always in the same order; thread 0
// has it. Every thread must call, once in a kernel.
__device__ inline double sum_of_block(double value) {
  __shared__ double parts[kSumThreads / 32];
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffffffffU, value, distance);
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < (blockDim.x + 31) / 32; ++i) value += parts[i];
  }
  return value;
}

}  // namespace bet::cuda
