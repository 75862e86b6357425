#include "kernels/cuda_check.h"
#include "kernels/cuda_kernels.h"
#include "kernels/cuda_sum.cuh"

namespace bet::cuda {
namespace {

constexpr unsigned kThreads = 256;

struct Adam {
  const AdamArgs& args;
  StepRate rate;

  __device__ void step(float& p, float& m, float& v, float g, float l2) const {
    const float gradient = g + l2 * p;
    m = args.beta1 * m + (1.0F - args.beta1) * gradient;
    v = args.beta2 * v + (1.0F - args.beta2) * gradient * gradient;
    p -= rate.step_size * m / (sqrtf(v) * rate.denominator_scale + args.epsilon);
  }
};

__device__ inline float4* quad(float* p) { return reinterpret_cast<float4*>(p); }

// Threads go over quads of columns; those of a row beyond its size are not touched.
__global__ void adam_kernel(const AdamArgs args, std::size_t num_rows, double* parts) {
  const Adam adam{args, args.rates[args.record->steps]};
  const std::uint32_t quads = args.columns / 4;
  const std::size_t total = num_rows * quads;
  double squares = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < total;
       i += std::size_t{gridDim.x} * kThreads) {
    const std::size_t row = i / quads;
    const auto column = static_cast<std::uint32_t>(i % quads) * 4;
    const std::uint32_t size = args.sizes[row];
    if (column >= size) continue;
    const float count =
        args.batch_offsets != nullptr
            ? static_cast<float>(args.batch_offsets[row + 1] - args.batch_offsets[row])
            : 0.0F;
    const float l2 = args.l2 * count;
    const std::size_t offset = row * args.stride + args.first_column + column;
    float4 p = *quad(args.parameter + offset);
    float4 m = *quad(args.moment1 + offset);
    float4 v = *quad(args.moment2 + offset);
    const float4 g = *reinterpret_cast<const float4*>(args.gradient + offset);
    const float square = p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w;  // zero beyond the size
    squares += static_cast<double>(count * square);
    adam.step(p.x, m.x, v.x, g.x, l2);
    if (column + 1 < size) adam.step(p.y, m.y, v.y, g.y, l2);
    if (column + 2 < size) adam.step(p.z, m.z, v.z, g.z, l2);
    if (column + 3 < size) adam.step(p.w, m.w, v.w, g.w, l2);
    *quad(args.parameter + offset) = p;
    *quad(args.moment1 + offset) = m;
    *quad(args.moment2 + offset) = v;
  }
  squares = sum_of_block(squares);
  if (threadIdx.x == 0) parts[blockIdx.x] = squares;
}

__global__ void finish_kernel(StepRecord* record, const float* loss, const double* parts,
                              double squares_scale) {
  static_assert(kAdamParts == kSumThreads);
  const double squares = sum_of_block(parts[threadIdx.x]);
  if (threadIdx.x != 0) return;
  const double total = static_cast<double>(*loss) + squares_scale * squares;
  ++record->steps;
  if (record->bad_step == 0 && !isfinite(total)) {
    record->bad_step = record->steps;
    record->bad_loss = total;
  }
  record->loss_sum += total;
}

}  // namespace

void adam_rows(const AdamArgs& args, std::size_t num_rows, double* parts, Stream stream) {
  adam_kernel<<<kAdamParts, kThreads, 0, stream>>>(args, num_rows, parts);
  check_launch("adam_rows");
}

void finish_step(StepRecord* record, const float* loss, const double* parts, double squares_scale,
                 Stream stream) {
  finish_kernel<<<1, kSumThreads, 0, stream>>>(record, loss, parts, squares_scale);
  check_launch("finish_step");
}

}  // namespace bet::cuda
