#pragma once

#include "kernels/kernels.h"

// What the kernels over pairs and rows share.

namespace bet::cuda {

constexpr unsigned kThreads = 256;
constexpr unsigned kLane = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

inline unsigned blocks_of_warps(std::size_t warps) {
  return static_cast<unsigned>((warps * kLane + kThreads - 1) / kThreads);
}

struct BatchView {
  const LossArgs& args;

  __device__ std::size_t positive(std::size_t entry) const { return args.size + entry; }
  __device__ std::size_t negative(std::size_t slot) const {
    return 2 * std::size_t{args.size} + slot;
  }
  // The model's columns of the row in a slot, and of the slot's contribution.
  __device__ const float* row(std::size_t slot) const {
    return args.vectors + std::size_t{args.rows[slot]} * args.stride + args.first_column;
  }
  __device__ float* contribution(std::size_t slot) const {
    return args.contributions + slot * args.stride + args.first_column;
  }
};

__device__ inline float4 load4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ inline void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

struct Four {
  float at[4] = {};
};
__device__ inline Four load_four(const float* p) {
  const float4 v = load4(p);
  return {{v.x, v.y, v.z, v.w}};
}
__device__ inline void store_four(float* p, const Four& v) {
  store4(p, {v.at[0], v.at[1], v.at[2], v.at[3]});
}

__device__ inline float warp_sum(float value) {
  for (unsigned distance = kLane / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

// max(x, 0); NaN stays NaN.
__device__ inline float positive_part(float x) { return x < 0 ? 0.0F : x; }

// softplus(-x), and sigmoid(-x), minus its slope, from e^-|x| so that neither overflows.
__device__ inline float softplus_of_minus(float x, float* sigmoid) {
  const float small = expf(-fabsf(x));
  *sigmoid = (x < 0 ? 1.0F : small) / (1.0F + small);
  return log1pf(small) + (x < 0 ? -x : 0.0F);
}

constexpr std::uint32_t kSlab = 32;                // columns in shared memory at a time
constexpr std::uint32_t kStride = kSlab + 4;       // keeps float4 aligned and banks apart
constexpr std::uint32_t kPart = kThreads / kPool;  // threads of an entry
constexpr std::uint32_t kOwn = kPool / kPart;      // negatives, or columns of a slab, of a thread
static_assert(kOwn == 4, "a thread holds four columns of a slab");

using Rows = float[kPool][kStride];

struct Columns {
  std::uint32_t begin;
  std::uint32_t end;
};

// The first slab of `columns` of the block's users, positives and negatives; columns behind the
// last are zero.
__device__ inline void load_slab(const BatchView& batch, std::size_t first, std::uint32_t count,
                                 Columns columns, Rows& users, Rows& positives, Rows& negatives) {
  const std::uint32_t row = threadIdx.x / kPart;
  const std::uint32_t c = 4 * (threadIdx.x % kPart);
  const float4 zero = {0, 0, 0, 0};
  const std::uint32_t column = columns.begin;
  const bool inside = column + c < columns.end;
  const std::size_t entry = first + row;
  const bool real = inside && row < count;
  store4(&users[row][c], real ? load4(batch.row(entry) + column + c) : zero);
  store4(&positives[row][c], real ? load4(batch.row(batch.positive(entry)) + column + c) : zero);
  store4(&negatives[row][c], inside ? load4(batch.row(batch.negative(entry)) + column + c) : zero);
}

__device__ inline float sum_of_entry(float value) {  // over the kPart threads of an entry
  for (unsigned distance = kPart / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

}  // namespace bet::cuda
