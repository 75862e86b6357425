#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"
#include "kernels/cuda_pairs.cuh"

// What the head's gradient is made of is summed in parts, each by one thread block in one order,
// and the parts by another kernel.

namespace bet::cuda {
namespace {

constexpr std::uint32_t kPartEntries = 64;  // of a part where each entry has its own negative

// A column's part of a score, without its head.
template <bool kHidden>
__device__ inline float term(float u, float v) {
  return kHidden ? positive_part(u + v) : u * v;
}
// Its slope for `own`, the value of the one row, where `other` is that of the other.
template <bool kHidden>
__device__ inline float slope(float own, float other) {
  if (kHidden) return own + other > 0 ? 1.0F : 0.0F;
  return other;
}

struct Triple {
  const float* user;
  const float* positive;
  const float* negative;
};
__device__ inline Triple rows_of(const BatchView& batch, std::size_t entry) {
  return {batch.row(entry), batch.row(batch.positive(entry)), batch.row(batch.negative(entry))};
}

// The part of four columns in the difference of an entry's scores.
template <bool kHidden>
__device__ inline float difference(const NeuMfArgs& args, const Triple& rows, std::uint32_t c) {
  const Four head = load_four(args.head + c);
  const Four u = load_four(rows.user + c);
  const Four p = load_four(rows.positive + c);
  const Four n = load_four(rows.negative + c);
  float x = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x += head.at[i] * (term<kHidden>(u.at[i], p.at[i]) - term<kHidden>(u.at[i], n.at[i]));
  }
  return x;
}

template <bool kHidden>
__device__ inline void contribute(const NeuMfArgs& args, std::size_t entry, std::uint32_t c,
                                  float pull) {
  const BatchView batch{args};
  const Triple rows = rows_of(batch, entry);
  const Four head = load_four(args.head + c);
  const Four u = load_four(rows.user + c);
  const Four p = load_four(rows.positive + c);
  const Four n = load_four(rows.negative + c);
  Four to_u;
  Four to_p;
  Four to_n;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float weight = pull * head.at[i];
    to_u.at[i] = weight * (slope<kHidden>(u.at[i], n.at[i]) - slope<kHidden>(u.at[i], p.at[i]));
    to_p.at[i] = -weight * slope<kHidden>(p.at[i], u.at[i]);
    to_n.at[i] = weight * slope<kHidden>(n.at[i], u.at[i]);
  }
  store_four(batch.contribution(entry) + c, to_u);
  store_four(batch.contribution(batch.positive(entry)) + c, to_p);
  store_four(batch.contribution(batch.negative(entry)) + c, to_n);
}

// A warp for an entry. `pulls`, by entry, are for head_of_pairs.
__global__ void neumf_pairs(const NeuMfArgs args, float* pulls) {
  const BatchView batch{args};
  const std::size_t entry = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / kLane;
  if (entry >= args.size) return;
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t columns = args.num_products + args.num_hidden;
  const Triple rows = rows_of(batch, entry);
  float x = 0;
  for (std::uint32_t c = 4 * lane; c < columns; c += 4 * kLane) {
    x += c < args.num_products ? difference<false>(args, rows, c) : difference<true>(args, rows, c);
  }
  x = warp_sum(x);
  float pull = 0;
  const float loss = softplus_of_minus(x, &pull);
  pull /= static_cast<float>(args.size);
  if (lane == 0) {
    args.loss[entry] = loss;
    pulls[entry] = pull;
  }
  for (std::uint32_t c = 4 * lane; c < args.stride; c += 4 * kLane) {
    if (c < args.num_products) {
      contribute<false>(args, entry, c, pull);
    } else if (c < columns) {
      contribute<true>(args, entry, c, pull);
    } else {
      store_four(batch.contribution(entry) + c, {});
      store_four(batch.contribution(batch.positive(entry)) + c, {});
      store_four(batch.contribution(batch.negative(entry)) + c, {});
    }
  }
}

// A block for a part, a thread for a column.
__global__ void head_of_pairs(const NeuMfArgs args, const float* pulls, float* parts) {
  const BatchView batch{args};
  const std::uint32_t columns = args.num_products + args.num_hidden;
  const std::size_t first = std::size_t{blockIdx.x} * kPartEntries;
  const std::size_t end = min(first + kPartEntries, std::size_t{args.size});
  for (std::uint32_t c = threadIdx.x; c < columns; c += kThreads) {
    float sum = 0;
    for (std::size_t entry = first; entry < end; ++entry) {
      const Triple rows = rows_of(batch, entry);
      const float u = rows.user[c];
      const float p = rows.positive[c];
      const float n = rows.negative[c];
      sum += pulls[entry] * (c < args.num_products ? term<false>(u, n) - term<false>(u, p)
                                                   : term<true>(u, n) - term<true>(u, p));
    }
    parts[blockIdx.x * std::size_t{columns} + c] = sum;
  }
}

// What a thread block of neumf_pools has in shared memory.
struct Block {
  Rows users;
  Rows positives;
  Rows negatives;
  float pull[kPool][kPool + 1];  // by entry and negative
  alignas(16) float head[kSlab];
};

// What a thread of neumf_pools works on.
struct ThreadTask {
  std::size_t first;    // entry of the block
  std::uint32_t count;  // entries of the block
  std::uint32_t row;    // an entry, or a negative
  std::uint32_t part;
};

__device__ inline void load_block(const NeuMfArgs& args, const ThreadTask& task, Columns columns,
                                  Block& block) {
  __syncthreads();
  load_slab(BatchView{args}, task.first, task.count, columns, block.users, block.positives,
            block.negatives);
  const std::uint32_t c = threadIdx.x;
  if (c < kSlab) {
    block.head[c] = columns.begin + c < columns.end ? args.head[columns.begin + c] : 0.0F;
  }
  __syncthreads();
}

// Adds to the scores of an entry's positive and of its kOwn negatives of this thread, the former
// in parts.
template <bool kHidden>
__device__ inline void add_scores(const NeuMfArgs& args, const ThreadTask& task, Columns columns,
                                  Block& block, float& positive, float (&score)[kOwn]) {
  for (; columns.begin < columns.end; columns.begin += kSlab) {
    load_block(args, task, columns, block);
#pragma unroll
    for (std::uint32_t i = 0; i < kOwn; ++i) {
      const std::uint32_t c = kOwn * task.part + i;
      positive +=
          block.head[c] * term<kHidden>(block.users[task.row][c], block.positives[task.row][c]);
    }
#pragma unroll 8
    for (std::uint32_t c = 0; c < kSlab; ++c) {
      const float u = block.users[task.row][c];
      const float head = block.head[c];
#pragma unroll
      for (std::uint32_t i = 0; i < kOwn; ++i) {
        score[i] += head * term<kHidden>(u, block.negatives[task.part + kPart * i][c]);
      }
    }
  }
}

// The sums over the other side of a thread's four columns of a slab, for its row as an entry and as
// a negative.
template <bool kHidden>
__device__ inline void add_slopes(const Block& block, const ThreadTask& task, Four& to_user,
                                  Four& to_negative) {
  const std::uint32_t c = kOwn * task.part;
  const Four own_user = load_four(&block.users[task.row][c]);
  const Four own_negative = load_four(&block.negatives[task.row][c]);
  for (std::uint32_t other = 0; other < kPool; ++other) {
    const float user_pull = block.pull[task.row][other];
    const float negative_pull = block.pull[other][task.row];
    const Four negative = load_four(&block.negatives[other][c]);
    const Four user = load_four(&block.users[other][c]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      to_user.at[i] += user_pull * slope<kHidden>(own_user.at[i], negative.at[i]);
      to_negative.at[i] += negative_pull * slope<kHidden>(own_negative.at[i], user.at[i]);
    }
  }
}

// The contributions of `columns`, and the block's part of the head's gradient. As
// max(u + v, 0) = slope * u + slope * v, that of a hidden unit is a sum over rows, not over pairs.
template <bool kHidden>
__device__ inline void contribute_block(const NeuMfArgs& args, const ThreadTask& task,
                                        Columns columns, Block& block, float pulls,
                                        float* to_head) {
  const BatchView batch{args};
  const std::uint32_t c = kOwn * task.part;
  for (; columns.begin < columns.end; columns.begin += kSlab) {
    load_block(args, task, columns, block);
    Four to_user = {};
    Four to_negative = {};
    add_slopes<kHidden>(block, task, to_user, to_negative);
    const Four head = load_four(&block.head[c]);
    const Four user = load_four(&block.users[task.row][c]);
    const Four positive = load_four(&block.positives[task.row][c]);
    const Four negative = load_four(&block.negatives[task.row][c]);
    Four to_positive;
    Four own_head;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float u = user.at[i];
      const float p = positive.at[i];
      to_positive.at[i] = -pulls * slope<kHidden>(p, u);
      to_user.at[i] -= pulls * slope<kHidden>(u, p);
      own_head.at[i] = u * to_user.at[i];
      if (kHidden) own_head.at[i] += p * to_positive.at[i] + negative.at[i] * to_negative.at[i];
      to_user.at[i] *= head.at[i];
      to_positive.at[i] *= head.at[i];
      to_negative.at[i] *= head.at[i];
    }
    if (columns.begin + c < columns.end) {
      const std::size_t at = columns.begin + c;
      store_four(batch.contribution(batch.negative(task.first + task.row)) + at, to_negative);
      if (task.row < task.count) {
        store_four(batch.contribution(task.first + task.row) + at, to_user);
        store_four(batch.contribution(batch.positive(task.first + task.row)) + at, to_positive);
      }
    }
    __syncthreads();  // the users are no longer needed: their memory holds the rows' parts
    store_four(&block.users[task.row][c], own_head);
    __syncthreads();
    const std::uint32_t own = columns.begin + threadIdx.x;
    if (threadIdx.x < kSlab && own < columns.end) {
      float sum = 0;
      for (std::uint32_t row = 0; row < kPool; ++row) sum += block.users[row][threadIdx.x];
      to_head[own] = sum;
    }
  }
}

__device__ inline float max_of_entry(float value) {  // over the kPart threads of an entry
  for (unsigned distance = kPart / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, value, distance);
    value = other <= value ? value : other;  // NaN stays
  }
  return value;
}

// Turns scores into slopes; returns the sum of the entry's.
__device__ inline float find_pulls(const NeuMfArgs& args, const ThreadTask& task, float positive,
                                   const float (&score)[kOwn], Block& block) {
  const std::size_t entry = task.first + task.row;
  const bool real = task.row < task.count;
  const bool bpr = args.kind == LossKind::kBpr;
  const float inverse = 1.0F / args.temperature;
  const std::uint32_t seen_mask = real ? args.seen_mask[entry] : ~std::uint32_t{0};
  const auto counts = [&](std::uint32_t i) {
    return (seen_mask >> (task.part + kPart * i) & 1) == 0;
  };
  float largest = 0;  // the positive's own exponent
#pragma unroll
  for (std::uint32_t i = 0; i < kOwn; ++i) {
    const float x = (score[i] - positive) * inverse;
    if (!bpr && counts(i)) largest = x <= largest ? largest : x;
  }
  largest = max_of_entry(largest);
  float loss = 0;
  float sum = 0;
  float slope[kOwn];
#pragma unroll
  for (std::uint32_t i = 0; i < kOwn; ++i) {
    float term = 0;
    if (bpr) {
      term = softplus_of_minus(positive - score[i], &slope[i]);
    } else {
      slope[i] = expf((score[i] - positive) * inverse - largest);
    }
    if (!counts(i)) slope[i] = 0;
    loss += counts(i) ? term : 0.0F;
    sum += slope[i];
  }
  sum = sum_of_entry(sum);
  const float all = expf(-largest) + sum;
  const float scale = bpr ? 1.0F / (static_cast<float>(args.size) * static_cast<float>(kPool))
                          : inverse / (static_cast<float>(args.size) * all);
  loss = bpr ? sum_of_entry(loss) / static_cast<float>(kPool) : largest + logf(all);
#pragma unroll
  for (std::uint32_t i = 0; i < kOwn; ++i)
    block.pull[task.row][task.part + kPart * i] = scale * slope[i];
  if (task.part == 0 && real) args.loss[entry] = loss;
  return scale * sum;
}

// A thread block for a block of kPool entries and its pool, which are one part.
__global__ void __launch_bounds__(kThreads) neumf_pools(const NeuMfArgs args, float* parts) {
  __shared__ __align__(16) Block block;
  const BatchView batch{args};
  const std::uint32_t columns = args.num_products + args.num_hidden;
  const Columns products = {0, args.num_products};
  const Columns hidden = {args.num_products, columns};
  ThreadTask task;
  task.first = std::size_t{blockIdx.x} * kPool;
  task.count = static_cast<std::uint32_t>(min(std::size_t{kPool}, args.size - task.first));
  task.row = threadIdx.x / kPart;
  task.part = threadIdx.x % kPart;

  float score[kOwn] = {};
  float positive = 0;
  add_scores<false>(args, task, products, block, positive, score);
  add_scores<true>(args, task, hidden, block, positive, score);
  const float pulls = find_pulls(args, task, sum_of_entry(positive), score, block);
  float* const to_head = parts + blockIdx.x * std::size_t{columns};
  contribute_block<false>(args, task, products, block, pulls, to_head);
  contribute_block<true>(args, task, hidden, block, pulls, to_head);

  for (std::uint32_t c = columns + 4 * task.part; c < args.stride; c += 4 * kPart) {
    store_four(batch.contribution(batch.negative(task.first + task.row)) + c, {});
    if (task.row < task.count) {
      store_four(batch.contribution(task.first + task.row) + c, {});
      store_four(batch.contribution(batch.positive(task.first + task.row)) + c, {});
    }
  }
}

// A block for 32 columns; its warps share the parts.
__global__ void __launch_bounds__(kLane* kLane)
    sum_head(const float* parts, std::uint32_t num_parts, std::uint32_t columns, float* out) {
  __shared__ double sums[kLane][kLane];
  const std::uint32_t lane = threadIdx.x % kLane;
  const std::uint32_t warp = threadIdx.x / kLane;
  const std::uint32_t c = blockIdx.x * kLane + lane;
  double sum = 0;
  if (c < columns) {
#pragma unroll 4
    for (std::uint32_t part = warp; part < num_parts; part += kLane) {
      sum += parts[std::size_t{part} * columns + c];
    }
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || c >= columns) return;
  for (std::uint32_t i = 1; i < kLane; ++i) sum += sums[i][lane];
  out[c] = static_cast<float>(sum);
}

std::uint32_t num_parts_of(const NeuMfArgs& args) {
  const std::uint32_t entries = args.pool > 1 ? kPool : kPartEntries;
  return (args.size + entries - 1) / entries;
}

}  // namespace

std::size_t terms_scratch_bytes(const NeuMfArgs& args) {
  const std::size_t parts = std::size_t{num_parts_of(args)} * (args.num_products + args.num_hidden);
  return (args.pool > 1 ? parts : parts + args.size) * sizeof(float);
}

void run_terms(const NeuMfArgs& args, void* scratch, Stream stream) {
  const std::uint32_t num_parts = num_parts_of(args);
  const std::uint32_t columns = args.num_products + args.num_hidden;
  auto* const parts = static_cast<float*>(scratch);
  if (args.pool > 1) {
    neumf_pools<<<num_parts, kThreads, 0, stream>>>(args, parts);
  } else {
    float* const pulls = parts + std::size_t{num_parts} * columns;
    const std::size_t threads = std::size_t{args.size} * kLane;
    const auto blocks = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
    neumf_pairs<<<blocks, kThreads, 0, stream>>>(args, pulls);
    check_launch("neumf_pairs");
    head_of_pairs<<<num_parts, kThreads, 0, stream>>>(args, pulls, parts);
  }
  check_launch("neumf_terms");
  sum_head<<<(columns + kLane - 1) / kLane, kLane * kLane, 0, stream>>>(parts, num_parts, columns,
                                                                        args.head_gradient);
  check_launch("sum_head");
}

}  // namespace bet::cuda
