#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"
#include "kernels/cuda_pairs.cuh"
#include "kernels/cuda_sum.cuh"

namespace bet::cuda {
namespace {

// A warp for an entry.
__global__ void bpr_pairs(const BprArgs args) {
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
  for (unsigned distance = kLane / 2; distance > 0; distance /= 2) {
    x += __shfl_xor_sync(kAllLanes, x, distance);
  }
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

// A thread block for a block of kPool entries and its pool.
__global__ void __launch_bounds__(kThreads) bpr_pools(const BprArgs args) {
  __shared__ __align__(16) Rows users;
  __shared__ __align__(16) Rows positives;
  __shared__ __align__(16) Rows negatives;
  __shared__ float pull[kPool][kPool + 1];  // by entry and negative
  const BatchView batch{args};
  const std::size_t first = std::size_t{blockIdx.x} * kPool;
  const auto count = static_cast<std::uint32_t>(min(std::size_t{kPool}, args.size - first));
  const std::uint32_t row = threadIdx.x / kPart;  // an entry, or a negative
  const std::uint32_t part = threadIdx.x % kPart;

  float score[kOwn] = {};
  float positive = 0;
  for (std::uint32_t column = 0; column < args.columns; column += kSlab) {
    __syncthreads();
    load_slab(batch, first, count, {column, args.columns}, users, positives, negatives);
    __syncthreads();
#pragma unroll
    for (std::uint32_t i = 0; i < kOwn; ++i) {
      positive += users[row][kOwn * part + i] * positives[row][kOwn * part + i];
    }
#pragma unroll 8
    for (std::uint32_t c = 0; c < kSlab; ++c) {
      const float u = users[row][c];
#pragma unroll
      for (std::uint32_t i = 0; i < kOwn; ++i) score[i] += u * negatives[part + kPart * i][c];
    }
  }
  positive = sum_of_entry(positive);

  const std::uint32_t seen_mask = row < count ? args.seen_mask[first + row] : ~std::uint32_t{0};
  const float scale = 1.0F / (static_cast<float>(args.size) * static_cast<float>(kPool));
  float loss = 0;
  float pulls = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kOwn; ++i) {
    const std::uint32_t k = part + kPart * i;
    float slope = 0;
    const float term = softplus_of_minus(positive - score[i], &slope);
    const bool counts = (seen_mask >> k & 1) == 0;
    const float counted = counts ? scale * slope : 0.0F;
    loss += counts ? term : 0.0F;
    pulls += counted;
    pull[row][k] = counted;
  }
  loss = sum_of_entry(loss);
  pulls = sum_of_entry(pulls);
  if (part == 0 && row < count) args.loss[first + row] = loss / static_cast<float>(kPool);

  const std::uint32_t c = kOwn * part;
  for (std::uint32_t column = 0; column < args.columns; column += kSlab) {
    __syncthreads();
    if (args.columns > kSlab) {
      load_slab(batch, first, count, {column, args.columns}, users, positives, negatives);
      __syncthreads();
    }
    float4 to_user = {0, 0, 0, 0};
    float4 to_negative = {0, 0, 0, 0};
    for (std::uint32_t other = 0; other < kPool; ++other) {
      add4(to_user, pull[row][other], &negatives[other][c]);
      add4(to_negative, pull[other][row], &users[other][c]);
    }
    if (column + c >= args.columns) continue;
    store4(batch.contribution(batch.negative(first + row)) + column + c, to_negative);
    if (row >= count) continue;
    float4 to_positive = {0, 0, 0, 0};
    add4(to_user, -pulls, &positives[row][c]);
    add4(to_positive, -pulls, &users[row][c]);
    store4(batch.contribution(first + row) + column + c, to_user);
    store4(batch.contribution(batch.positive(first + row)) + column + c, to_positive);
  }
}

__global__ void mean_kernel(const float* values, std::size_t count, float* out) {
  double sum = 0;
  for (std::size_t i = threadIdx.x; i < count; i += kSumThreads) sum += values[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *out = static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

std::size_t terms_scratch_bytes(const BprArgs& /*args*/) { return 0; }

void run_terms(const BprArgs& args, void* /*scratch*/, Stream stream) {
  if (args.pool == kPool) {
    bpr_pools<<<(args.size + kPool - 1) / kPool, kThreads, 0, stream>>>(args);
  } else {
    const std::size_t threads = std::size_t{args.size} * kLane;
    bpr_pairs<<<static_cast<unsigned>((threads + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        args);
  }
  check_launch("bpr_terms");
}

void mean(const float* values, std::size_t count, float* out, Stream stream) {
  mean_kernel<<<1, kSumThreads, 0, stream>>>(values, count, out);
  check_launch("mean");
}

}  // namespace bet::cuda
