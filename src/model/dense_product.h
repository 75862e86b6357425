#pragma once

#include <ATen/core/Tensor.h>

namespace bet {

// Matrix products of many rows with small matrices, on either device. On the CPU rows are shared
// out among LibTorch's threads, each with a BLAS of one thread: a BLAS with threads of its own
// takes the cores from the threads that wait for the next step. Results do not depend on the number
// of threads. No gradient.

// out = a b, or with a bias (float [columns], may be undefined) bias + a b. `out` has rows of its
// own stride; a is [rows, k], b [k, columns].
void multiply_rows(at::Tensor out, const at::Tensor& a, const at::Tensor& b,
                   const at::Tensor& bias = {});

// out = a^T b for a [rows, k] and b [rows, columns].
void multiply_transposed(at::Tensor out, const at::Tensor& a, const at::Tensor& b);

// out = the sum of the rows of a; [columns].
void sum_rows(at::Tensor out, const at::Tensor& a);

}  // namespace bet
