#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/kernels.h"
#include "model/batch.h"
#include "model/model_parameters.h"

namespace bet {

struct AdamOptions {
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
};

// Adam (as LibTorch's) on a masked table, in one pass over it. Besides the gradient it applies the
// regulariser of a batch, whose gradient is a multiple of the rows themselves. It keeps the record
// of the steps on the table's device, so that a step reads nothing back.
class RowAdam {
 public:
  // `rate_after(step)` is the learning rate of the step that follows `step` steps, for the first
  // `max_steps`.
  RowAdam(const ModelParameters& table, const AdamOptions& options, std::uint64_t max_steps,
          const std::function<double(std::uint64_t)>& rate_after);

  // l2 / batch size * the squared rows at the batch's slots; nothing without a batch.
  struct Regulariser {
    const Batch* batch = nullptr;
    double l2 = 0;
  };

  // Applies `gradient` plus the gradient of the regulariser, and records `loss` (by model) plus the
  // value of the regulariser.
  void step(ModelParameters& table, const at::Tensor& gradient, const Regulariser& regulariser,
            const at::Tensor& loss);

  // The record of a model, in the device's memory.
  const StepRecord* device_record(std::size_t model = 0) const;
  // Read back, by model; waits for the device.
  std::vector<StepRecord> records() const;

  // For checkpoints.
  at::Tensor& moment1() { return moment1_; }
  at::Tensor& moment2() { return moment2_; }
  void set_records(const std::vector<StepRecord>& records);

 private:
  AdamOptions options_;
  at::Tensor moment1_;
  at::Tensor moment2_;
  at::Tensor rates_;    // of StepRate, by step
  at::Tensor records_;  // of StepRecord, by model
};

}  // namespace bet
