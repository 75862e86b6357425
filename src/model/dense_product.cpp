#include "model/dense_product.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <c10/core/GradMode.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/parallel_chunks.h"

namespace bet {
namespace {

// OpenBLAS, where LibTorch has it, works alone in each of our threads.
void use_one_thread_in_blas() {
  static const bool done = [] {
    void* const set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    if (set != nullptr) reinterpret_cast<void (*)(int)>(set)(1);
    return true;
  }();
  static_cast<void>(done);
}

constexpr std::array<std::int64_t, 1> kFirstDimension = {0};

// Calls work(chunk, first, last) for ranges of rows; every thread without recording gradients.
template <typename Work>
void over_rows(std::int64_t num_rows, std::int64_t rows_of_chunk, const Work& work) {
  use_one_thread_in_blas();
  parallel_chunks((num_rows + rows_of_chunk - 1) / rows_of_chunk, [&](std::int64_t chunk) {
    const c10::AutoGradMode no_gradient(false);
    const std::int64_t first = chunk * rows_of_chunk;
    work(chunk, first, std::min(first + rows_of_chunk, num_rows));
  });
}

// Partial results of so many rows are added in their order.
constexpr std::int64_t kRowsOfPart = 2048;

at::Tensor parts_for(const at::Tensor& a, at::IntArrayRef shape) {
  std::vector<std::int64_t> sizes = {(a.size(0) + kRowsOfPart - 1) / kRowsOfPart};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return at::empty(sizes, a.options());
}

}  // namespace

void multiply_rows(at::Tensor out, const at::Tensor& a, const at::Tensor& b,
                   const at::Tensor& bias) {
  const c10::AutoGradMode no_gradient(false);
  const auto product = [&](at::Tensor to, const at::Tensor& from) {
    if (bias.defined()) {
      at::addmm_out(to, bias, from, b);
    } else {
      at::mm_out(to, from, b);
    }
  };
  if (!out.is_cpu()) return product(out, a);
  constexpr std::int64_t kRows = 512;
  over_rows(a.size(0), kRows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
    product(out.slice(0, first, last), a.slice(0, first, last));
  });
}

void multiply_transposed(at::Tensor out, const at::Tensor& a, const at::Tensor& b) {
  const c10::AutoGradMode no_gradient(false);
  if (!out.is_cpu()) {
    at::mm_out(out, a.t(), b);
    return;
  }
  const at::Tensor parts = parts_for(a, {a.size(1), b.size(1)});
  over_rows(a.size(0), kRowsOfPart, [&](std::int64_t part, std::int64_t first, std::int64_t last) {
    at::Tensor to = parts[part];
    at::mm_out(to, a.slice(0, first, last).t(), b.slice(0, first, last));
  });
  at::sum_out(out, parts, at::IntArrayRef(kFirstDimension));
}

void sum_rows(at::Tensor out, const at::Tensor& a) {
  const c10::AutoGradMode no_gradient(false);
  if (!out.is_cpu()) {
    at::sum_out(out, a, at::IntArrayRef(kFirstDimension));
    return;
  }
  const at::Tensor parts = parts_for(a, {a.size(1)});
  over_rows(a.size(0), kRowsOfPart, [&](std::int64_t part, std::int64_t first, std::int64_t last) {
    at::Tensor to = parts[part];
    at::sum_out(to, a.slice(0, first, last), at::IntArrayRef(kFirstDimension));
  });
  at::sum_out(out, parts, at::IntArrayRef(kFirstDimension));
}

}  // namespace bet
