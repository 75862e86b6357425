#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"
#include "kernels/cuda_pairs.cuh"

namespace bet::cuda {
namespace {

constexpr std::uint32_t kTile = 64;   // users, and items, of a thread block
constexpr std::uint32_t kUnits = 16;  // in shared memory at a time
constexpr std::uint32_t kSide = 4;    // users, and items, of a thread
constexpr std::uint32_t kRow = kTile / kSide;
static_assert(kRow * kRow == kThreads);

using Tile = float[kUnits][kTile];

// The units from `first` on of the block's users and items; what is behind the last is zero.
__device__ inline void load_tiles(const HiddenScoreArgs& args, std::uint32_t first, Tile& users,
                                  Tile& items) {
  const std::uint32_t num_units = args.num_positive + args.num_negative;
  for (std::uint32_t i = threadIdx.x; i < kUnits * kTile; i += kThreads) {
    const std::uint32_t user = blockIdx.y * kTile + i / kUnits;
    const std::uint32_t unit = first + i % kUnits;
    const bool inside = user < args.num_users && unit < num_units;
    users[i % kUnits][i / kUnits] =
        inside ? args.users[std::size_t{user} * num_units + unit] : 0.0F;
  }
  for (std::uint32_t i = threadIdx.x; i < kUnits * kTile; i += kThreads) {
    const std::uint32_t item = blockIdx.x * kTile + i % kTile;
    const std::uint32_t unit = first + i / kTile;
    const bool inside = item < args.num_items && unit < num_units;
    items[i / kTile][i % kTile] =
        inside ? args.items[std::size_t{unit} * args.num_items + item] : 0.0F;
  }
}

// A thread has four users and four items.
__global__ void __launch_bounds__(kThreads) add_hidden_kernel(const HiddenScoreArgs args) {
  __shared__ __align__(16) Tile users;
  __shared__ __align__(16) Tile items;
  const std::uint32_t num_units = args.num_positive + args.num_negative;
  const std::uint32_t own_user = kSide * (threadIdx.x / kRow);
  const std::uint32_t own_item = kSide * (threadIdx.x % kRow);
  float sum[kSide][kSide] = {};
  for (std::uint32_t first = 0; first < num_units; first += kUnits) {
    __syncthreads();
    load_tiles(args, first, users, items);
    __syncthreads();
#pragma unroll 4
    for (std::uint32_t h = 0; h < kUnits; ++h) {  // units behind the last add max(0 + 0, 0)
      const float sign = first + h < args.num_positive ? 1.0F : -1.0F;
      const float4 u = load4(&users[h][own_user]);
      const float4 v = load4(&items[h][own_item]);
      const float user[kSide] = {u.x, u.y, u.z, u.w};
      const float item[kSide] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (std::uint32_t i = 0; i < kSide; ++i) {
#pragma unroll
        for (std::uint32_t j = 0; j < kSide; ++j) {
          sum[i][j] += sign * positive_part(user[i] + item[j]);
        }
      }
    }
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kSide; ++i) {
    const std::uint32_t user = blockIdx.y * kTile + own_user + i;
#pragma unroll
    for (std::uint32_t j = 0; j < kSide; ++j) {
      const std::uint32_t item = blockIdx.x * kTile + own_item + j;
      if (user < args.num_users && item < args.num_items) {
        args.scores[std::size_t{user} * args.num_items + item] += sum[i][j];
      }
    }
  }
}

}  // namespace

void add_hidden_scores(const HiddenScoreArgs& args, Stream stream) {
  if (args.num_users == 0 || args.num_items == 0) return;
  const dim3 grid((args.num_items + kTile - 1) / kTile, (args.num_users + kTile - 1) / kTile);
  add_hidden_kernel<<<grid, kThreads, 0, stream>>>(args);
  check_launch("add_hidden_scores");
}

}  // namespace bet::cuda
