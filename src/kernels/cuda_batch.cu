#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"

namespace bet::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLane = 32;
static_assert(kPool == kLane, "a word of the mask is a warp's ballot");

unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

__device__ std::size_t thread_index() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

// The entries, then the items of the pools.
__global__ void draw_rows(const DrawArgs args, std::size_t num_pool_slots) {
  const std::size_t index = thread_index();
  const std::uint64_t step = args.record->steps;
  if (index < args.size) {
    draw::entry(args, step, static_cast<std::uint32_t>(index));
  } else if (index - args.size < num_pool_slots) {
    const std::size_t slot = index - args.size;
    args.rows[2 * std::size_t{args.size} + slot] =
        draw::pool_item(args, step, static_cast<std::uint32_t>(slot));
  }
}

// A warp for an entry, a lane for each negative of a part of its pool.
__global__ void mark_seen(const DrawArgs args) {
  const std::size_t entry = thread_index() / kLane;
  if (entry >= args.size) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t words = args.pool / kPool;
  const std::size_t pool = 2 * std::size_t{args.size} + entry / args.pool * args.pool;
  for (std::uint32_t word = 0; word < words; ++word) {
    const bool seen = draw::has_item(args, args.rows[entry], args.rows[pool + kPool * word + lane]);
    const unsigned mask = __ballot_sync(0xffffffffU, seen);
    if (lane == 0) args.seen_mask[entry * words + word] = mask;
  }
}

// Where each row begins among the sorted ones; a thread also writes the rows without a slot that
// come before its own.
__global__ void find_rows(const GroupArgs args, const std::uint32_t* sorted) {
  const std::size_t i = thread_index();
  if (i > args.num_slots) return;
  const std::int64_t row = i < args.num_slots ? std::int64_t{sorted[i]} : args.num_rows;
  const std::int64_t before = i > 0 ? std::int64_t{sorted[i - 1]} : -1;
  if (row == before) return;
  for (std::int64_t empty = before + 1; empty < row; ++empty) {
    args.offsets[empty] = i;
    args.touched[empty] = 0;
  }
  args.offsets[row] = i;
  if (i < args.num_slots) args.touched[row] = 1;
}

// Scratch: sorted rows, and CUB's own.
struct Scratch {
  std::size_t rows_bytes = 0;
  std::size_t cub_bytes = 0;

  explicit Scratch(std::uint32_t num_slots)
      : rows_bytes((num_slots * sizeof(std::uint32_t) + 255) / 256 * 256) {
    const std::uint32_t* in = nullptr;
    std::uint32_t* out = nullptr;
    cub::DeviceRadixSort::SortPairs(nullptr, cub_bytes, in, out, in, out,
                                    static_cast<int>(num_slots));
  }
  std::size_t bytes() const { return rows_bytes + cub_bytes; }
};

int bits_for(std::uint32_t num_rows) {
  int bits = 1;
  while (bits < 32 && (num_rows - 1) >> bits != 0) ++bits;
  return bits;
}

}  // namespace

void draw_batch(const DrawArgs& args, Stream stream) {
  const bool pools = args.pool > 1;
  const std::size_t num_pool_slots =
      pools ? std::size_t{(args.size + args.pool - 1) / args.pool} * args.pool : 0;
  draw_rows<<<blocks_for(args.size + num_pool_slots), kThreads, 0, stream>>>(args, num_pool_slots);
  if (pools) {
    mark_seen<<<blocks_for(std::size_t{args.size} * kLane), kThreads, 0, stream>>>(args);
  }
  check_launch("draw_batch");
}

std::size_t group_scratch_bytes(std::uint32_t num_slots) { return Scratch(num_slots).bytes(); }

void group_slots(const GroupArgs& args, void* scratch, std::size_t scratch_bytes, Stream stream) {
  const Scratch parts(args.num_slots);
  BET_CHECK(scratch_bytes >= parts.bytes(), "group_slots with ", scratch_bytes, " of ",
            parts.bytes(), " bytes");
  auto* const sorted = static_cast<std::uint32_t*>(scratch);
  void* const cub_scratch = static_cast<char*>(scratch) + parts.rows_bytes;
  std::size_t cub_bytes = parts.cub_bytes;
  // Stable, so a row's slots stay in order.
  const cudaError_t error = cub::DeviceRadixSort::SortPairs(
      cub_scratch, cub_bytes, args.rows, sorted, args.numbers, args.slots,
      static_cast<int>(args.num_slots), 0, bits_for(args.num_rows), stream);
  BET_CHECK(error == cudaSuccess, "sorting ", args.num_slots,
            " slots: ", cudaGetErrorString(error));
  find_rows<<<blocks_for(std::size_t{args.num_slots} + 1), kThreads, 0, stream>>>(args, sorted);
  check_launch("group_slots");
}

}  // namespace bet::cuda
