#pragma once

#include <cuda_runtime_api.h>

#include "base/error.h"

namespace bet::cuda {

// Throws if the launch before it was refused.
inline void check_launch(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  BET_CHECK(error == cudaSuccess, "CUDA kernel ", kernel, ": ", cudaGetErrorString(error));
}

}  // namespace bet::cuda
