#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"

namespace bet::cuda {
namespace {

constexpr int kThreads = 256;  // of a block
// Longer rows are summed by the whole block: the longest would otherwise be waited for.
constexpr std::uint32_t kLongRow = 128;

// Four columns of a row.
__device__ inline float4 load(const float* p) { return __ldg(reinterpret_cast<const float4*>(p)); }
__device__ inline float4 load(const std::uint16_t* p) {  // bfloat16 is the upper half of a float
  const uint2 word = __ldg(reinterpret_cast<const uint2*>(p));
  return {__uint_as_float(word.x << 16), __uint_as_float(word.x & 0xffff0000U),
          __uint_as_float(word.y << 16), __uint_as_float(word.y & 0xffff0000U)};
}
__device__ inline void add(float4& sum, float weight, float4 v) {
  sum.x += weight * v.x;
  sum.y += weight * v.y;
  sum.z += weight * v.z;
  sum.w += weight * v.w;
}
__device__ inline unsigned narrow(float value) {  // to nearest, ties to even
  const unsigned bits = __float_as_uint(value);
  return (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
}

template <typename In>
__device__ const In* rows_of(const GatherArgs& args);
template <>
__device__ const float* rows_of<float>(const GatherArgs& args) {
  return args.in;
}
template <>
__device__ const std::uint16_t* rows_of<std::uint16_t>(const GatherArgs& args) {
  return args.in_bf16;
}

// How a row is shared out: kLanes threads hold its columns, four each, and kTeam threads work on it
// together, kTeam / kLanes entries at a time.
template <int kLanesOfRow>
struct Team {
  static constexpr int kLanes = kLanesOfRow;
  static constexpr int kTeam = kLanes > 8 ? kLanes : 8;
  static constexpr int kGroups = kTeam / kLanes;
  static constexpr int kTeams = kThreads / kTeam;  // rows that a block takes
  static constexpr int kAtOnce = 4;  // rows of a thread under way together; 8 leave too few threads
  // Long rows are often neighbours and would meet in one block: a block's rows lie far apart where
  // neighbours have nothing else in common that is worth it, as the cache lines of wide rows.
  static constexpr bool kSpread = kLanes <= 8;
};

// Which of a row's entries are dropped.
template <bool kDrops>
class DropEntries {
 public:
  __device__ DropEntries(const GatherArgs& args, std::uint32_t row) : args_(args), row_(row) {
    if (!kDrops) return;
    key_ = drop_key(args.drop, args.drop.record->steps);
    word_ = drop_row(key_, row);
  }
  __device__ bool has(std::uint32_t column) const {
    if (!args_.drop_transposed) return is_dropped(args_.drop, word_, column);
    return is_dropped(args_.drop, drop_row(key_, column), row_);
  }

 private:
  const GatherArgs& args_;
  std::uint32_t row_;
  std::uint32_t key_ = 0;
  std::uint32_t word_ = 0;
};

__device__ inline bool has_base(const GatherArgs& args, std::uint32_t row) {
  if (args.base == nullptr) return false;
  if (args.base_touched != nullptr && args.base_touched[row] == 0) return false;
  return !args.drop_base || !DropEntries<true>(args, row).has(row);
}

// A team's sum over the entries columns[0 .. count) of the four columns at `column`; every thread
// ends with the sum of its columns.
template <typename T, bool kWeighted, bool kDrops, typename In>
__device__ float4 sum_entries(const GatherArgs& args, std::uint32_t row,
                              const std::uint32_t* columns, std::uint32_t count,
                              std::uint32_t column, bool active) {
  const In* const in = rows_of<In>(args) + column;
  float4 sum = {0, 0, 0, 0};
  std::uint32_t rows[T::kAtOnce];
  const DropEntries<kDrops> drop(args, row);
  const auto ask_for = [&](std::uint32_t e) {
#pragma unroll
    for (int i = 0; i < T::kAtOnce; ++i) {
      rows[i] = e + i * T::kGroups < count ? __ldg(columns + e + i * T::kGroups) : ~0U;
      if (kDrops && rows[i] != ~0U && drop.has(rows[i])) rows[i] = ~0U;
    }
  };
  std::uint32_t e = threadIdx.x % T::kTeam / T::kLanes;
  ask_for(e);
  while (e < count) {
    float4 values[T::kAtOnce];
    float weights[T::kAtOnce];
#pragma unroll
    for (int i = 0; i < T::kAtOnce; ++i) {
      const bool there = active && rows[i] != ~0U;
      values[i] = there ? load(in + std::size_t{rows[i]} * args.stride) : float4{0, 0, 0, 0};
      weights[i] = kWeighted && there ? __ldg(args.column_weight + rows[i]) : 1.0F;
    }
    e += T::kAtOnce * T::kGroups;
    ask_for(e);  // the next rows' numbers come while these rows do
#pragma unroll
    for (int i = 0; i < T::kAtOnce; ++i) add(sum, weights[i], values[i]);
  }
  // Teams of a warp may be elsewhere: a team only waits for itself.
  const unsigned team_lanes = T::kTeam == 32 ? ~0U : (1U << (T::kTeam % 32)) - 1U;
  const unsigned mask = team_lanes << (threadIdx.x % 32 / T::kTeam * T::kTeam);
#pragma unroll
  for (int distance = T::kTeam / 2; distance >= T::kLanes; distance /= 2) {
    sum.x += __shfl_xor_sync(mask, sum.x, distance);
    sum.y += __shfl_xor_sync(mask, sum.y, distance);
    sum.z += __shfl_xor_sync(mask, sum.z, distance);
    sum.w += __shfl_xor_sync(mask, sum.w, distance);
  }
  return sum;
}

__device__ void write_row(const GatherArgs& args, std::size_t row, std::uint32_t column,
                          float4 sum) {
  float sum_scale = args.sum_scale != nullptr ? args.sum_scale[row] : 1.0F;
  if (args.factor != nullptr) sum_scale *= *args.factor;
  float4 result = {0, 0, 0, 0};
  add(result, sum_scale, sum);
  const std::size_t offset = row * args.stride + column;
  if (has_base(args, static_cast<std::uint32_t>(row))) {
    add(result, args.base_scale != nullptr ? args.base_scale[row] : 1.0F, load(args.base + offset));
  }
  if (args.product != nullptr) {
    const float4 other = load(args.product + offset);
    float* const out = args.out + 2 * row * args.stride + column;
    *reinterpret_cast<float4*>(out) = result;
    *reinterpret_cast<float4*>(out + args.stride) =
        float4{result.x * other.x, result.y * other.y, result.z * other.z, result.w * other.w};
    return;
  }
  if (args.out_bf16 != nullptr) {
    *reinterpret_cast<uint2*>(args.out_bf16 + offset) =
        uint2{narrow(result.x) | narrow(result.y) << 16, narrow(result.z) | narrow(result.w) << 16};
  } else {
    *reinterpret_cast<float4*>(args.out + offset) = result;
  }
}

// Columns first_column + 4 * kLanes * blockIdx.y and on, of those below end_column. Which
// rows are zero (in_touched) is not used: checking it costs more than reading them.
template <typename T, bool kWeighted, bool kDrops, typename In>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const GatherArgs args, std::uint32_t num_rows, std::uint32_t first_column,
                  std::uint32_t end_column) {
  __shared__ float4 parts[T::kTeams][T::kLanes];
  const std::uint32_t team = threadIdx.x / T::kTeam;
  const std::uint32_t lane = threadIdx.x % T::kTeam;
  const std::uint32_t column = first_column + 4 * (T::kLanes * blockIdx.y + lane % T::kLanes);
  const bool active = column < end_column;
  const auto row_of = [&](std::uint32_t index) {
    return T::kSpread ? blockIdx.x + index * gridDim.x : blockIdx.x * T::kTeams + index;
  };
  const auto is_needed = [&](std::uint32_t row) {
    return row < num_rows && (args.needed == nullptr || args.needed[row] != 0);
  };

  const std::uint32_t own = row_of(team);
  bool is_long = false;
  if (is_needed(own)) {
    const std::uint64_t begin = args.offsets[own];
    const auto count = static_cast<std::uint32_t>(args.offsets[own + 1] - begin);
    is_long = count > kLongRow;
    if (!is_long) {
      const float4 sum = sum_entries<T, kWeighted, kDrops, In>(args, own, args.columns + begin,
                                                               count, column, active);
      if (lane < T::kLanes && active) write_row(args, own, column, sum);
    }
  }
  if (__syncthreads_or(is_long) == 0) return;
  for (std::uint32_t index = 0; index < T::kTeams; ++index) {
    const std::uint32_t row = row_of(index);
    if (!is_needed(row)) continue;
    const std::uint64_t begin = args.offsets[row];
    const std::uint64_t count = args.offsets[row + 1] - begin;
    if (count <= kLongRow) continue;
    const std::uint64_t from = count * team / T::kTeams;
    const std::uint64_t to = count * (team + 1) / T::kTeams;
    const float4 part = sum_entries<T, kWeighted, kDrops, In>(
        args, row, args.columns + begin + from, static_cast<std::uint32_t>(to - from), column,
        active);
    if (lane < T::kLanes) parts[team][lane] = part;
    __syncthreads();
    if (team == 0 && lane < T::kLanes && active) {
      float4 sum = parts[0][lane];
      for (int i = 1; i < T::kTeams; ++i) add(sum, 1.0F, parts[i][lane]);
      write_row(args, row, column, sum);
    }
    __syncthreads();
  }
}

template <int kLanes, typename In>
void launch(const GatherArgs& args, std::size_t num_rows, std::uint32_t first_column,
            std::uint32_t end_column, Stream stream) {
  using T = Team<kLanes>;
  const auto blocks = static_cast<unsigned>((num_rows + T::kTeams - 1) / T::kTeams);
  const unsigned slabs = (end_column - first_column + 4 * kLanes - 1) / (4 * kLanes);
  const bool drops = args.drop.threshold != 0;
  auto kernel = drops ? gather_kernel<T, false, true, In> : gather_kernel<T, false, false, In>;
  if (args.column_weight != nullptr) {
    kernel = drops ? gather_kernel<T, true, true, In> : gather_kernel<T, true, false, In>;
  }
  kernel<<<dim3(blocks, slabs), kThreads, 0, stream>>>(args, static_cast<std::uint32_t>(num_rows),
                                                       first_column, end_column);
}

template <typename In>
void gather(const GatherArgs& args, std::size_t num_rows, Stream stream) {
  constexpr std::uint32_t kSlab = 128;
  const std::uint32_t whole = args.stride / kSlab * kSlab;
  if (whole > 0) launch<32, In>(args, num_rows, 0, whole, stream);
  const std::uint32_t rest = args.stride - whole;
  if (rest > 64) {
    launch<32, In>(args, num_rows, whole, args.stride, stream);
  } else if (rest > 32) {
    launch<16, In>(args, num_rows, whole, args.stride, stream);
  } else if (rest > 16) {
    launch<8, In>(args, num_rows, whole, args.stride, stream);
  } else if (rest > 8) {
    launch<4, In>(args, num_rows, whole, args.stride, stream);
  } else if (rest > 0) {
    launch<2, In>(args, num_rows, whole, args.stride, stream);
  }
}

}  // namespace

void gather_rows(const GatherArgs& args, std::size_t num_rows, Stream stream) {
  if (num_rows == 0) return;
  if (args.in_bf16 != nullptr) {
    gather<std::uint16_t>(args, num_rows, stream);
  } else {
    gather<float>(args, num_rows, stream);
  }
  check_launch("gather_rows");
}

}  // namespace bet::cuda
