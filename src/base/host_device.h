#pragma once

// Marks a function that is compiled for the CPU and, by nvcc, for the GPU as well.
#ifdef __CUDACC__
#define BET_HOST_DEVICE __host__ __device__
#else
#define BET_HOST_DEVICE
#endif
