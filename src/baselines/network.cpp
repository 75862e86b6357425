#include "baselines/network.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/kernels.h"
#include "model/dense_weights.h"
#include "train/adam_state.h"

namespace bet {
namespace {

// Matrices begin on rows of the table that Adam sees.
std::int64_t padded(const Network::Matrix& matrix) {
  return static_cast<std::int64_t>(
      row_stride(static_cast<std::uint32_t>(matrix.rows * matrix.columns)));
}

}  // namespace

Network::Network(const std::vector<Matrix>& matrices, const Options& options, std::uint64_t seed,
                 const std::string& purpose, const at::Device& device)
    : options_(options) {
  std::int64_t total = 0;
  for (const Matrix& matrix : matrices) total += padded(matrix);
  const at::Tensor weights = at::zeros({total}, at::kFloat);
  RandomStream random(seed, purpose);
  float* next = weights.data_ptr<float>();
  for (const Matrix& matrix : matrices) {
    for (std::int64_t i = 0; i < matrix.rows * matrix.columns; ++i) {
      next[i] = static_cast<float>(matrix.bound > 0 ? (2 * random.uniform() - 1) * matrix.bound
                                                    : matrix.value);
    }
    next += padded(matrix);
  }
  table_ = weights_as_table(weights.to(device));
  // Not detach(): autograd would notice what restore() and follow() write, and lose the views' way
  // back to the leaf.
  leaf_ = table_.values.variable_data().view({-1}).set_requires_grad(true);
  std::int64_t first = 0;
  for (const Matrix& matrix : matrices) {
    views_.push_back(weight_matrix(leaf_, first, matrix.rows, matrix.columns));
    first += padded(matrix);
  }
  adam_ = std::make_unique<RowAdam>(table_, AdamOptions(), options.max_steps,
                                    [&](std::uint64_t /*step*/) { return options.learning_rate; });
}

void Network::step(const at::Tensor& loss) {
  at::Tensor gradient = torch::autograd::grad({loss}, {leaf_}, {}, /*retain_graph=*/true)[0];
  if (options_.gradient_norm > 0) {
    const at::Tensor norm = gradient.norm();
    gradient = gradient * (options_.gradient_norm / (norm + 1e-6)).clamp_max(1);
  }
  const at::Tensor value = loss.detach().reshape({1}).contiguous();
  adam_->step(table_, gradient.contiguous(), {}, value);
  BET_CHECK(adam_->records().at(0).bad_step == 0, "the loss of an agent's step ",
            adam_->records().at(0).bad_step, " is ", adam_->records().at(0).bad_loss);
}

void Network::follow(const Network& other, double share) {
  table_.values.mul_(1 - share).add_(other.table_.values, share);
}

void Network::save(Checkpoint& checkpoint, const std::string& name) const {
  save_adam(checkpoint, name, table_, *adam_);
}

void Network::restore(const Checkpoint& checkpoint, const std::string& name) {
  load_adam(checkpoint, name, table_, *adam_);
}

}  // namespace bet
