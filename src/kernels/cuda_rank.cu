#include <cmath>

#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"

namespace bet::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kAtOnce = 8;
constexpr unsigned kTile = kThreads * kAtOnce;  // items that a block reads between two checks of
                                                // its candidates
constexpr unsigned kCapacity = 2 * kTile;       // of candidates
constexpr unsigned kManyKeys = 192;  // candidates besides the best that are worth sorting
static_assert(kMostTop + kManyKeys <= kTile && kMostTop <= kThreads);

// (score, item) as one number that is higher for higher scores, then for lower items.
__device__ inline unsigned long long key_of(float score, std::uint32_t item) {
  const unsigned bits = __float_as_uint(score == 0 ? 0.0F : score);  // -0 is 0
  const unsigned ordered = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
  return static_cast<unsigned long long>(ordered) << 32 | static_cast<unsigned>(~item);
}
__device__ inline float score_of(unsigned long long key) {
  const auto ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float((ordered & 0x80000000U) != 0 ? ordered & 0x7fffffffU : ~ordered);
}

// Whether `value` is among the ascending `values`.
__device__ inline bool contains(const std::uint32_t* values, unsigned count, std::uint32_t value) {
  unsigned first = 0;
  unsigned last = count;
  while (first < last) {
    const unsigned middle = (first + last) / 2;
    if (values[middle] < value) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < count && values[first] == value;
}

// Bitonic sort, highest first; `count` is a power of two.
__device__ void sort_keys(unsigned long long* keys, unsigned count) {
  for (unsigned width = 2; width <= count; width *= 2) {
    for (unsigned distance = width / 2; distance > 0; distance /= 2) {
      for (unsigned pair = threadIdx.x; pair < count / 2; pair += kThreads) {
        const unsigned low = 2 * pair - (pair & (distance - 1));
        const unsigned high = low + distance;
        const bool descending = (low & width) == 0;
        const unsigned long long a = keys[low];
        const unsigned long long b = keys[high];
        if ((a < b) == descending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
      __syncthreads();
    }
  }
}

// A block for a user: scores that reach the k-th best so far become candidates, and when there are
// many, or at the end, they are sorted. Most scores are read once and forgotten.
__global__ void __launch_bounds__(kThreads) top_kernel(const TopArgs args) {
  __shared__ unsigned long long keys[kCapacity];
  __shared__ unsigned num_keys;
  const std::uint32_t user = args.users[blockIdx.x];
  const float* const scores = args.scores + std::size_t{blockIdx.x} * args.num_items;
  const std::uint32_t* const seen = args.columns + args.offsets[user];
  const auto num_seen = static_cast<unsigned>(args.offsets[user + 1] - args.offsets[user]);
  const auto is_seen = [&](std::uint32_t item) {
    return contains(seen, num_seen, args.num_users + item);
  };
  float threshold = -INFINITY;
  const auto keep_best = [&] {
    const unsigned count = num_keys;
    unsigned sorted = 2;
    while (sorted < count || sorted < args.k) sorted *= 2;
    for (unsigned i = count + threadIdx.x; i < sorted; i += kThreads) keys[i] = 0;
    __syncthreads();
    sort_keys(keys, sorted);
    if (count >= args.k) threshold = score_of(keys[args.k - 1]);
    if (threadIdx.x == 0) num_keys = min(count, args.k);
    __syncthreads();
  };

  // The next tile is being loaded while this one is processed.
  float next[kAtOnce];
  const auto ask_for = [&](std::uint32_t base) {
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const std::uint32_t item = base + kThreads * i + threadIdx.x;
      next[i] = item < args.num_items ? __ldcs(scores + item) : -INFINITY;
    }
  };
  ask_for(0);
  // As many of the first tile's items reach the k-th best of its threads' own best: with that as
  // the first threshold only few of them become candidates.
  unsigned long long own_best = 0;
#pragma unroll
  for (unsigned i = 0; i < kAtOnce; ++i) {
    const std::uint32_t item = kThreads * i + threadIdx.x;
    if (item >= args.num_items || isnan(next[i])) continue;
    const unsigned long long key = key_of(next[i], item);
    if (key > own_best && !is_seen(item)) own_best = key;
  }
  keys[threadIdx.x] = own_best;
  __syncthreads();
  sort_keys(keys, kThreads);
  if (keys[args.k - 1] != 0) threshold = score_of(keys[args.k - 1]);
  if (threadIdx.x == 0) num_keys = 0;
  __syncthreads();
  for (std::uint32_t base = 0; base < args.num_items; base += kTile) {
    float values[kAtOnce];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) values[i] = next[i];
    ask_for(base + kTile);
    bool found = false;
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const std::uint32_t item = base + kThreads * i + threadIdx.x;
      if (item < args.num_items && values[i] >= threshold && !is_seen(item)) {
        keys[atomicAdd(&num_keys, 1U)] = key_of(values[i], item);
        found = true;
      }
    }
    if (__syncthreads_or(found) == 0) continue;
    const bool many = num_keys > args.k + kManyKeys;
    __syncthreads();
    if (many) keep_best();
  }
  keep_best();
  const auto item_at = [&](unsigned position) {
    return keys[position] == 0 ? ~std::uint32_t{0} : ~static_cast<std::uint32_t>(keys[position]);
  };
  if (args.ranked != nullptr) {
    for (unsigned i = threadIdx.x; i < args.k; i += kThreads) {
      args.ranked[std::size_t{blockIdx.x} * args.k + i] = item_at(i);
    }
  }
  if (args.hits != nullptr && threadIdx.x < 32) {
    const std::uint32_t* const held = args.held_items + args.held_offsets[blockIdx.x];
    const auto num_held =
        static_cast<unsigned>(args.held_offsets[blockIdx.x + 1] - args.held_offsets[blockIdx.x]);
    const bool hit = threadIdx.x < args.k && contains(held, num_held, item_at(threadIdx.x));
    const unsigned mask = __ballot_sync(0xffffffffU, hit);
    if (threadIdx.x == 0) args.hits[blockIdx.x] = mask;
  }
}

}  // namespace

void top_items(const TopArgs& args, Stream stream) {
  BET_CHECK(args.k > 0 && args.k <= kMostTop, "the best ", args.k, " items; at most ", kMostTop,
            " can be asked for on the GPU");
  if (args.count == 0) return;
  top_kernel<<<args.count, kThreads, 0, stream>>>(args);
  check_launch("top_items");
}

}  // namespace bet::cuda
