#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"
#include "kernels/cuda_pairs.cuh"
#include "kernels/cuda_sum.cuh"

namespace bet::cuda {
namespace {

// A warp for an entry.
__global__ void loss_pairs(const LossArgs args) {
  const BatchView batch{args};
  const std::size_t entry = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / kLane;
  if (entry >= args.size) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const float* const u = batch.row(entry);
  const float* const i = batch.row(batch.positive(entry));
  const float* const j = batch.row(batch.negative(entry));
  float x = 0;
  for (std::uint32_t c = 4 * lane; c < args.columns; c += 4 * kLane) {
    const float4 a = load4(u + c);
    const float4 p = load4(i + c);
    const float4 n = load4(j + c);
    x += a.x * (p.x - n.x) + a.y * (p.y - n.y) + a.z * (p.z - n.z) + a.w * (p.w - n.w);
  }
  x = warp_sum(x);
  float pull = 0;
  const float loss = softplus_of_minus(x, &pull);
  if (lane == 0) args.loss[entry] = loss;
  pull /= static_cast<float>(args.size);
  for (std::uint32_t c = 4 * lane; c < args.columns; c += 4 * kLane) {
    const float4 a = load4(u + c);
    const float4 p = load4(i + c);
    const float4 n = load4(j + c);
    store4(batch.contribution(entry) + c,
           {pull * (n.x - p.x), pull * (n.y - p.y), pull * (n.z - p.z), pull * (n.w - p.w)});
    store4(batch.contribution(batch.positive(entry)) + c,
           {-pull * a.x, -pull * a.y, -pull * a.z, -pull * a.w});
    store4(batch.contribution(batch.negative(entry)) + c,
           {pull * a.x, pull * a.y, pull * a.z, pull * a.w});
  }
}

// Pools. A thread block has kPool entries, or kPool negatives; a warp four of them. What entries
// and negatives pull at each other is found once, for users and positives (pull_users), and goes
// through memory to the negatives (pull_negatives).

constexpr std::uint32_t kWarps = kThreads / kLane;
constexpr std::uint32_t kOwnRows = kPool / kWarps;
static_assert(kOwnRows == 4, "a warp's rows are the four floats of a vector");
constexpr std::uint32_t kPullStride = kPool + 4;
constexpr std::uint32_t kChunk = 128;  // negatives that are scored at a time, at most

// Shared memory of pull_users: pulls by negative and entry, then the slabs of rows.
__host__ __device__ constexpr std::size_t pulls_floats(std::uint32_t pool) {
  return std::size_t{pool} * kPullStride;
}
constexpr std::size_t kSlabFloats = (kPool + kChunk) * kStride;
static_assert(kSlabFloats >= kPool * 4 * kLane, "contribute_users puts rows of 128 columns there");
static_assert(kThreads == kPool * kPool / 4, "contribute_negatives loads four pulls a thread");

__device__ inline float warp_max(float value) {
  for (unsigned distance = kLane / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, value, distance);
    value = other <= value ? value : other;  // NaN stays
  }
  return value;
}

// Loads a slab of columns of rows, zero behind the last column and for slots behind the last.
__device__ inline void load_rows(const BatchView& batch, std::size_t first_slot,
                                 std::uint32_t num_rows, std::uint32_t real_rows,
                                 std::uint32_t column, float* out) {
  constexpr std::uint32_t kVectors = kSlab / 4;
  for (std::uint32_t i = threadIdx.x; i < num_rows * kVectors; i += kThreads) {
    const std::uint32_t row = i / kVectors;
    const std::uint32_t c = 4 * (i % kVectors);
    const bool inside = row < real_rows && column + c < batch.args.columns;
    const float4 zero = {0, 0, 0, 0};
    store4(out + row * kStride + c,
           inside ? load4(batch.row(first_slot + row) + column + c) : zero);
  }
}

// Scores of the warp's four entries against kChunkLanes * 32 negatives; a lane has every 32nd.
// Column by column of a slab they are added to `score`.
template <std::uint32_t kTiles>
__device__ inline void add_scores(const float* users, const float* negatives,
                                  float (&score)[kTiles][kOwnRows]) {
  const std::uint32_t lane = threadIdx.x % kLane;
  const float* const own = users + kOwnRows * (threadIdx.x / kLane) * kStride;
#pragma unroll
  for (std::uint32_t c = 0; c < kSlab; c += 4) {
    float4 u[kOwnRows];
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) u[i] = load4(own + i * kStride + c);
#pragma unroll
    for (std::uint32_t t = 0; t < kTiles; ++t) {
      const float4 n = load4(negatives + (lane + kLane * t) * kStride + c);
#pragma unroll
      for (std::uint32_t i = 0; i < kOwnRows; ++i) {
        score[t][i] += u[i].x * n.x + u[i].y * n.y + u[i].z * n.z + u[i].w * n.w;
      }
    }
  }
}

struct PoolTask {
  std::size_t first;      // entry of the thread block
  std::uint32_t count;    // entries
  std::size_t negatives;  // the first slot of the block's pool
};

// Writes the scores of a chunk of negatives to `pulls`, and the positives' to `positive` in parts.
template <std::uint32_t kTiles>
__device__ inline void score_chunk(const BatchView& batch, const PoolTask& task,
                                   std::uint32_t chunk, float* pulls, float* slabs,
                                   float (&positive)[kOwnRows]) {
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t own = kOwnRows * (threadIdx.x / kLane);
  float* const users = slabs;
  float* const negatives = slabs + kPool * kStride;
  float score[kTiles][kOwnRows] = {};
  for (std::uint32_t column = 0; column < batch.args.columns; column += kSlab) {
    __syncthreads();
    load_rows(batch, task.first, kPool, task.count, column, users);
    load_rows(batch, task.negatives + chunk, kTiles * kLane, kTiles * kLane, column, negatives);
    __syncthreads();
    if (chunk == 0 && column + lane < batch.args.columns) {
#pragma unroll
      for (std::uint32_t i = 0; i < kOwnRows; ++i) {
        if (own + i >= task.count) continue;
        positive[i] += users[(own + i) * kStride + lane] *
                       batch.row(batch.positive(task.first + own + i))[column + lane];
      }
    }
    add_scores<kTiles>(users, negatives, score);
  }
#pragma unroll
  for (std::uint32_t t = 0; t < kTiles; ++t) {
    store4(pulls + (chunk + lane + kLane * t) * kPullStride + own,
           {score[t][0], score[t][1], score[t][2], score[t][3]});
  }
}

__device__ inline void sum_over_warp(Four& values) {
#pragma unroll
  for (float& value : values.at) value = warp_sum(value);
}

// Turns the scores of the warp's entries into slopes, in place, and writes their losses; returns
// the sums of the slopes. Each lane reads and writes what it wrote before. Entries from `count` on
// are not there.
__device__ inline Four find_pulls(const LossArgs& args, std::size_t first, std::uint32_t count,
                                  const Four& positive, float* pulls) {
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t words = args.pool / kPool;
  const bool bpr = args.kind == LossKind::kBpr;
  const float inverse = 1.0F / args.temperature;
  // By entry: whether the lane's negative of this word counts.
  const auto counts = [&](std::uint32_t i, std::uint32_t word) {
    return i < count && (args.seen_mask[(first + i) * words + word] >> lane & 1) == 0;
  };
  Four largest;  // the positive's own exponent is 0
  if (!bpr) {
    for (std::uint32_t word = 0; word < words; ++word) {
      const Four score = load_four(pulls + (kPool * word + lane) * kPullStride);
#pragma unroll
      for (std::uint32_t i = 0; i < kOwnRows; ++i) {
        const float x = (score.at[i] - positive.at[i]) * inverse;
        if (counts(i, word)) largest.at[i] = x <= largest.at[i] ? largest.at[i] : x;
      }
    }
#pragma unroll
    for (float& value : largest.at) value = warp_max(value);
  }
  Four loss;
  Four sum;
  for (std::uint32_t word = 0; word < words; ++word) {
    float* const own = pulls + (kPool * word + lane) * kPullStride;
    Four pull = load_four(own);
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) {
      float term = 0;
      float slope = 0;
      if (bpr) {
        term = softplus_of_minus(positive.at[i] - pull.at[i], &slope);
      } else {
        slope = expf((pull.at[i] - positive.at[i]) * inverse - largest.at[i]);
      }
      const bool counted = counts(i, word);
      pull.at[i] = counted ? slope : 0.0F;
      sum.at[i] += pull.at[i];
      loss.at[i] += counted ? term : 0.0F;
    }
    store_four(own, pull);
  }
  sum_over_warp(sum);
  if (bpr) sum_over_warp(loss);
  Four scale;
#pragma unroll
  for (std::uint32_t i = 0; i < kOwnRows; ++i) {
    const float all = expf(-largest.at[i]) + sum.at[i];
    scale.at[i] = bpr ? 1.0F / (static_cast<float>(args.size) * static_cast<float>(args.pool))
                      : inverse / (static_cast<float>(args.size) * all);
    const float mean = bpr ? loss.at[i] / static_cast<float>(args.pool) : largest.at[i] + logf(all);
    if (lane == 0 && i < count) args.loss[first + i] = mean;
    sum.at[i] *= scale.at[i];
  }
  for (std::uint32_t word = 0; word < words; ++word) {
    float* const own = pulls + (kPool * word + lane) * kPullStride;
    Four pull = load_four(own);
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) pull.at[i] *= scale.at[i];
    store_four(own, pull);
  }
  return sum;
}

// The columns of a warp's lanes: kColumnLanes lanes have four columns each, and the other lanes of
// the warp have the same columns and other rows to add.
template <std::uint32_t kColumnLanes>
struct ColumnSums {
  static constexpr std::uint32_t kRowLanes = kLane / kColumnLanes;
  float4 sum[kOwnRows] = {};

  // Adds weight * row for the four rows of the warp.
  __device__ void add(const Four& weights, float4 row) {
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) {
      sum[i].x += weights.at[i] * row.x;
      sum[i].y += weights.at[i] * row.y;
      sum[i].z += weights.at[i] * row.z;
      sum[i].w += weights.at[i] * row.w;
    }
  }
  // The sums of all lanes with the same columns.
  __device__ void finish() {
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) {
      for (unsigned distance = kColumnLanes; distance < kLane; distance *= 2) {
        sum[i].x += __shfl_xor_sync(kAllLanes, sum[i].x, distance);
        sum[i].y += __shfl_xor_sync(kAllLanes, sum[i].y, distance);
        sum[i].z += __shfl_xor_sync(kAllLanes, sum[i].z, distance);
        sum[i].w += __shfl_xor_sync(kAllLanes, sum[i].w, distance);
      }
    }
  }
};

// Loads four columns for each of kColumnLanes lanes, from `column` on, of kPool rows; zero behind
// the last column and for slots behind the last.
template <std::uint32_t kColumnLanes>
__device__ inline void load_columns(const BatchView& batch, std::size_t first_slot,
                                    std::uint32_t real_rows, std::uint32_t column, float* out) {
  for (std::uint32_t i = threadIdx.x; i < kPool * kColumnLanes; i += kThreads) {
    const std::uint32_t row = i / kColumnLanes;
    const std::uint32_t c = 4 * (i % kColumnLanes);
    const bool inside = row < real_rows && column + c < batch.args.columns;
    const float4 zero = {0, 0, 0, 0};
    store4(out + 4 * i, inside ? load4(batch.row(first_slot + row) + column + c) : zero);
  }
}

template <std::uint32_t kColumnLanes>
__device__ inline void contribute_users(const BatchView& batch, const PoolTask& task,
                                        const float* pulls, const Four& sums, float* rows) {
  constexpr std::uint32_t kRowLanes = ColumnSums<kColumnLanes>::kRowLanes;
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t own = kOwnRows * (threadIdx.x / kLane);
  const float* const own_columns = rows + 4 * (lane % kColumnLanes);
  for (std::uint32_t begin = 0; begin < batch.args.columns; begin += 4 * kColumnLanes) {
    const std::uint32_t c = begin + 4 * (lane % kColumnLanes);
    ColumnSums<kColumnLanes> to_user;
    for (std::uint32_t chunk = 0; chunk < batch.args.pool; chunk += kPool) {
      __syncthreads();
      load_columns<kColumnLanes>(batch, task.negatives + chunk, kPool, begin, rows);
      __syncthreads();
#pragma unroll 8
      for (std::uint32_t k = lane / kColumnLanes; k < kPool; k += kRowLanes) {
        to_user.add(load_four(pulls + (chunk + k) * kPullStride + own),
                    load4(own_columns + k * 4 * kColumnLanes));
      }
    }
    to_user.finish();
    const bool inside = c < batch.args.columns;
    if (!inside || lane >= kColumnLanes) continue;
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) {
      if (own + i >= task.count) continue;
      const std::size_t entry = task.first + own + i;
      const float4 u = load4(batch.row(entry) + c);
      const float4 p = load4(batch.row(batch.positive(entry)) + c);
      const float4 n = to_user.sum[i];
      const float pull = sums.at[i];
      store4(batch.contribution(entry) + c,
             {n.x - pull * p.x, n.y - pull * p.y, n.z - pull * p.z, n.w - pull * p.w});
      store4(batch.contribution(batch.positive(entry)) + c,
             {-pull * u.x, -pull * u.y, -pull * u.z, -pull * u.w});
    }
  }
}

// Calls work<lanes>() with as many lanes for columns as there are columns for.
template <typename Work>
__device__ inline void with_column_lanes(std::uint32_t columns, const Work& work) {
  if (columns <= 8) {
    work.template operator()<2>();
  } else if (columns <= 16) {
    work.template operator()<4>();
  } else if (columns <= 32) {
    work.template operator()<8>();
  } else if (columns <= 64) {
    work.template operator()<16>();
  } else {
    work.template operator()<32>();
  }
}

// Losses, the contributions of users and positives, and the pulls by entry and negative.
__global__ void __launch_bounds__(kThreads) pull_users(const LossArgs args, float* to_negatives) {
  extern __shared__ __align__(16) float shared[];
  float* const pulls = shared;
  float* const slabs = shared + pulls_floats(args.pool);
  const BatchView batch{args};
  PoolTask task;
  task.first = std::size_t{blockIdx.x} * kPool;
  task.count = static_cast<std::uint32_t>(min(std::size_t{kPool}, args.size - task.first));
  task.negatives = batch.negative(task.first / args.pool * args.pool);
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t own = kOwnRows * (threadIdx.x / kLane);

  float positive[kOwnRows] = {};
  std::uint32_t chunk = 0;
  for (; args.pool - chunk >= kChunk; chunk += kChunk) {
    score_chunk<kChunk / kLane>(batch, task, chunk, pulls, slabs, positive);
  }
  for (; chunk < args.pool; chunk += kLane) {
    score_chunk<1>(batch, task, chunk, pulls, slabs, positive);
  }

  Four score;
#pragma unroll
  for (std::uint32_t i = 0; i < kOwnRows; ++i) score.at[i] = warp_sum(positive[i]);
  const std::uint32_t own_count = task.count > own ? min(task.count - own, kOwnRows) : 0;
  const Four sums = find_pulls(args, task.first + own, own_count, score, pulls + own);
  for (std::uint32_t k = lane; k < args.pool; k += kLane) {
    const Four pull = load_four(pulls + k * kPullStride + own);
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) {
      if (i < own_count) to_negatives[(task.first + own + i) * args.pool + k] = pull.at[i];
    }
  }
  with_column_lanes(args.columns, [&]<std::uint32_t kLanes>() {
    contribute_users<kLanes>(batch, task, pulls, sums, slabs);
  });
}

// The contributions of kPool negatives of a block.
template <std::uint32_t kColumnLanes>
__device__ inline void contribute_negatives(const BatchView& batch, std::size_t first_negative,
                                            const float* pulls, float* rows, float* weights) {
  constexpr std::uint32_t kRowLanes = ColumnSums<kColumnLanes>::kRowLanes;
  const LossArgs& args = batch.args;
  const std::size_t first_entry = first_negative / args.pool * args.pool;
  const auto position = static_cast<std::uint32_t>(first_negative % args.pool);
  const auto count =
      static_cast<std::uint32_t>(min(std::size_t{args.pool}, args.size - first_entry));
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t own = kOwnRows * (threadIdx.x / kLane);
  const float* const own_columns = rows + 4 * (lane % kColumnLanes);
  for (std::uint32_t begin = 0; begin < args.columns; begin += 4 * kColumnLanes) {
    const std::uint32_t c = begin + 4 * (lane % kColumnLanes);
    ColumnSums<kColumnLanes> sums;
    for (std::uint32_t chunk = 0; chunk < count; chunk += kPool) {
      const std::uint32_t real = min(kPool, count - chunk);
      __syncthreads();
      load_columns<kColumnLanes>(batch, first_entry + chunk, real, begin, rows);
      const std::uint32_t row = threadIdx.x / (kPool / 4);  // kThreads is kPool * kPool / 4
      const std::uint32_t k = 4 * (threadIdx.x % (kPool / 4));
      const float4 zero = {0, 0, 0, 0};
      store4(weights + row * kPullStride + k,
             row < real ? load4(pulls + (first_entry + chunk + row) * args.pool + position + k)
                        : zero);
      __syncthreads();
#pragma unroll 8
      for (std::uint32_t e = lane / kColumnLanes; e < kPool; e += kRowLanes) {
        sums.add(load_four(weights + e * kPullStride + own),
                 load4(own_columns + e * 4 * kColumnLanes));
      }
    }
    sums.finish();
    if (c >= args.columns || lane >= kColumnLanes) continue;
#pragma unroll
    for (std::uint32_t i = 0; i < kOwnRows; ++i) {
      store4(batch.contribution(batch.negative(first_negative + own + i)) + c, sums.sum[i]);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    pull_negatives(const LossArgs args, const float* pulls) {
  __shared__ __align__(16) float rows[kPool * 4 * kLane];
  __shared__ __align__(16) float weights[kPool * kPullStride];
  const BatchView batch{args};
  with_column_lanes(args.columns, [&]<std::uint32_t kLanes>() {
    contribute_negatives<kLanes>(batch, std::size_t{blockIdx.x} * kPool, pulls, rows, weights);
  });
}

__global__ void mean_kernel(const float* values, std::size_t count, float* out) {
  double sum = 0;
  for (std::size_t i = threadIdx.x; i < count; i += kSumThreads) sum += values[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *out = static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

std::size_t terms_scratch_bytes(const LossArgs& args) {
  return args.pool == 1 ? 0 : std::size_t{args.size} * args.pool * sizeof(float);
}

void run_terms(const LossArgs& args, void* scratch, Stream stream) {
  if (args.pool == 1) {
    loss_pairs<<<blocks_of_warps(args.size), kThreads, 0, stream>>>(args);
  } else {
    const std::size_t bytes = (pulls_floats(args.pool) + kSlabFloats) * sizeof(float);
    constexpr std::size_t kAlways = 48 << 10;  // more must be asked for
    if (bytes > kAlways) {
      const cudaError_t error = cudaFuncSetAttribute(
          pull_users, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
      BET_CHECK(error == cudaSuccess, "--negatives ", args.pool, " needs ", bytes,
                " bytes of this GPU's shared memory: ", cudaGetErrorString(error));
    }
    auto* const pulls = static_cast<float*>(scratch);
    const auto blocks = static_cast<unsigned>((args.size + kPool - 1) / kPool);
    pull_users<<<blocks, kThreads, bytes, stream>>>(args, pulls);
    check_launch("pull_users");
    const std::size_t num_pools = (args.size + args.pool - 1) / args.pool;
    const auto parts = static_cast<unsigned>(num_pools * (args.pool / kPool));
    pull_negatives<<<parts, kThreads, 0, stream>>>(args, pulls);
  }
  check_launch("loss_terms");
}

void mean(const float* values, std::size_t count, float* out, Stream stream) {
  mean_kernel<<<1, kSumThreads, 0, stream>>>(values, count, out);
  check_launch("mean");
}

}  // namespace bet::cuda
