#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/row_adam.h"
#include "train/checkpoint.h"

namespace bet {

// The weights of a small network of a method's agent: matrices in one run of floats, which Adam
// moves and a checkpoint holds. On the device it was made for; one thread.
class Network {
 public:
  struct Matrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    double bound = 0;  // drawn from U(-bound, bound); all `value` where it is 0
    double value = 0;
  };
  struct Options {
    double learning_rate = 1e-3;
    std::uint64_t max_steps = 0;
    double gradient_norm = 0;  // longer gradients are cut to it; 0: never
  };
  // Drawn by seed and purpose, whatever the device.
  Network(const std::vector<Matrix>& matrices, const Options& options, std::uint64_t seed,
          const std::string& purpose, const at::Device& device);

  // A view of one of the matrices that requires a gradient.
  at::Tensor matrix(std::size_t index) const { return views_[index]; }

  // One step of Adam down the gradient of `loss`, a single number made of this network's matrices.
  void step(const at::Tensor& loss);

  // values <- share * other + (1 - share) * values: how a target network follows.
  void follow(const Network& other, double share);

  // Under a name.
  void save(Checkpoint& checkpoint, const std::string& name) const;
  void restore(const Checkpoint& checkpoint, const std::string& name);

 private:
  Options options_;
  ModelParameters table_;  // all weights, as the optimiser sees them
  at::Tensor leaf_;        // the same memory, for autograd
  std::vector<at::Tensor> views_;
  std::unique_ptr<RowAdam> adam_;
};

}  // namespace bet
