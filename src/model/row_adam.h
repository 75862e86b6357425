#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/masked_table.h"

namespace bet {

struct AdamOptions {
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
};

// Adam (as LibTorch's) on a masked table, in one pass over it. Beside the gradient it takes the
// regulariser of a batch, whose gradient is a multiple of the rows themselves.
class RowAdam {
 public:
  explicit RowAdam(const MaskedTable& table, const AdamOptions& options = {});

  // Applies table.values.grad(). l2 * row_count[r] * row is added to row r's gradient. Returns the
  // sum of row_count[r] * |row r|^2 before the step, the same for any number of threads.
  double step(MaskedTable& table, float learning_rate, const std::vector<std::uint32_t>& row_count,
              float l2);

  // For checkpoints.
  at::Tensor& moment1() { return moment1_; }
  at::Tensor& moment2() { return moment2_; }
  std::int64_t num_steps() const { return num_steps_; }
  void set_num_steps(std::int64_t steps) { num_steps_ = steps; }

 private:
  AdamOptions options_;
  at::Tensor moment1_;
  at::Tensor moment2_;
  std::int64_t num_steps_ = 0;
};

}  // namespace bet
