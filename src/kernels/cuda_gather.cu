#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"

namespace bet::cuda {
namespace {

constexpr int kWarps = 8;  // of a block, and rows that it takes
constexpr int kLane = 32;
// Longer rows are summed by the whole block: the longest would otherwise be waited for.
constexpr std::uint64_t kLongRow = 192;
constexpr unsigned kAllLanes = 0xffffffffU;

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

// A warp's sum over entries [begin, end) of the four columns at `column`. kLanes lanes make up a
// row, so that 32 / kLanes entries are read at once; every lane ends with the sum of its columns.
template <int kLanes, bool kWeighted, bool kSkip, typename In>
__device__ float4 sum_entries(const GatherArgs& args, std::uint64_t begin, std::uint64_t end,
                              std::uint32_t column, bool active) {
  constexpr int kGroups = kLane / kLanes;
  constexpr int kAtOnce = kLanes >= 16 ? 8 : 4;  // loads of a lane that are under way together
  const std::uint64_t group = (threadIdx.x % kLane) / kLanes;
  const In* const in = rows_of<In>(args) + column;
  float4 sum = {0, 0, 0, 0};
  const auto value_of = [&](std::uint32_t row) {
    if (!active || (kSkip && args.in_touched[row] == 0)) return float4{0, 0, 0, 0};
    return load(in + std::size_t{row} * args.stride);
  };
  std::uint64_t e = begin + group;
  for (; e + (kAtOnce - 1) * kGroups < end; e += kAtOnce * kGroups) {
    std::uint32_t rows[kAtOnce];
    float4 values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) rows[i] = __ldg(args.columns + e + i * kGroups);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) values[i] = value_of(rows[i]);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      add(sum, kWeighted ? __ldg(args.column_weight + rows[i]) : 1.0F, values[i]);
    }
  }
  if (e < end) {  // the rest, still together
    std::uint32_t rows[kAtOnce - 1];
    float4 values[kAtOnce - 1];
#pragma unroll
    for (int i = 0; i < kAtOnce - 1; ++i) {
      rows[i] = e + i * kGroups < end ? __ldg(args.columns + e + i * kGroups) : ~0U;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce - 1; ++i) {
      values[i] = rows[i] != ~0U ? value_of(rows[i]) : float4{0, 0, 0, 0};
    }
#pragma unroll
    for (int i = 0; i < kAtOnce - 1; ++i) {
      if (rows[i] != ~0U) add(sum, kWeighted ? __ldg(args.column_weight + rows[i]) : 1.0F, values[i]);
    }
  }
#pragma unroll
  for (int distance = kLane / 2; distance >= kLanes; distance /= 2) {
    sum.x += __shfl_xor_sync(kAllLanes, sum.x, distance);
    sum.y += __shfl_xor_sync(kAllLanes, sum.y, distance);
    sum.z += __shfl_xor_sync(kAllLanes, sum.z, distance);
    sum.w += __shfl_xor_sync(kAllLanes, sum.w, distance);
  }
  return sum;
}

__device__ void write_row(const GatherArgs& args, std::size_t row, std::uint32_t column,
                          float4 sum) {
  float sum_scale = args.sum_scale != nullptr ? args.sum_scale[row] : 1.0F;
  if (args.factor != nullptr) sum_scale *= *args.factor;
  float4 result = {0, 0, 0, 0};
  add(result, sum_scale, sum);
  const std::size_t place = row * args.stride + column;
  if (args.base != nullptr && (args.base_touched == nullptr || args.base_touched[row] != 0)) {
    add(result, args.base_scale[row], load(args.base + place));
  }
  if (args.out_bf16 != nullptr) {
    *reinterpret_cast<uint2*>(args.out_bf16 + place) =
        uint2{narrow(result.x) | narrow(result.y) << 16, narrow(result.z) | narrow(result.w) << 16};
  } else {
    *reinterpret_cast<float4*>(args.out + place) = result;
  }
}

// Columns first_column + 4 * kLanes * blockIdx.y and on, of those below end_column.
template <int kLanes, bool kWeighted, bool kSkip, typename In>
__global__ void __launch_bounds__(kWarps* kLane)
    gather_kernel(const GatherArgs args, std::size_t num_rows, std::uint32_t first_column,
                  std::uint32_t end_column) {
  __shared__ float4 parts[kWarps][kLanes];
  const int warp = static_cast<int>(threadIdx.x) / kLane;
  const int lane = static_cast<int>(threadIdx.x) % kLane;
  const std::uint32_t column = first_column + 4 * (kLanes * blockIdx.y + lane % kLanes);
  const bool active = column < end_column;
  const std::size_t first_row = std::size_t{blockIdx.x} * kWarps;
  const auto is_needed = [&](std::size_t row) {
    return row < num_rows && (args.needed == nullptr || args.needed[row] != 0);
  };

  const std::size_t own = first_row + warp;
  if (is_needed(own)) {
    const std::uint64_t begin = args.offsets[own];
    const std::uint64_t end = args.offsets[own + 1];
    if (end - begin <= kLongRow) {
      const float4 sum =
          sum_entries<kLanes, kWeighted, kSkip, In>(args, begin, end, column, active);
      if (lane < kLanes && active) write_row(args, own, column, sum);
    }
  }
  for (std::size_t row = first_row; row < first_row + kWarps; ++row) {
    if (!is_needed(row)) continue;
    const std::uint64_t begin = args.offsets[row];
    const std::uint64_t length = args.offsets[row + 1] - begin;
    if (length <= kLongRow) continue;
    const float4 part = sum_entries<kLanes, kWeighted, kSkip, In>(
        args, begin + length * warp / kWarps, begin + length * (warp + 1) / kWarps, column, active);
    if (lane < kLanes) parts[warp][lane] = part;
    __syncthreads();
    if (warp == 0 && lane < kLanes && active) {
      float4 sum = parts[0][lane];
#pragma unroll
      for (int i = 1; i < kWarps; ++i) add(sum, 1.0F, parts[i][lane]);
      write_row(args, row, column, sum);
    }
    __syncthreads();
  }
}

template <int kLanes, typename In>
void launch(const GatherArgs& args, std::size_t num_rows, std::uint32_t first_column,
            std::uint32_t end_column, Stream stream) {
  const auto blocks = static_cast<unsigned>((num_rows + kWarps - 1) / kWarps);
  const unsigned slabs = (end_column - first_column + 4 * kLanes - 1) / (4 * kLanes);
  const auto run = [&](auto kernel) {
    kernel<<<dim3(blocks, slabs), kWarps * kLane, 0, stream>>>(args, num_rows, first_column,
                                                               end_column);
  };
  // Asking whether a row is zero pays only where the row is longer than the question.
  const bool skip = args.in_touched != nullptr && kLanes >= 8;
  if (args.column_weight != nullptr) {
    run(skip ? gather_kernel<kLanes, true, true, In> : gather_kernel<kLanes, true, false, In>);
  } else {
    run(skip ? gather_kernel<kLanes, false, true, In> : gather_kernel<kLanes, false, false, In>);
  }
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
