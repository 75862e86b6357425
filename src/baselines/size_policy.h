#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "baselines/network.h"

namespace bet {

// ESAPN's policy of one side (Zhao et al., SIGIR'20): whether a user or item of some popularity and
// size stays or is enlarged to the next of a list of sizes. The popularity's embedding, normalised
// over the batch, and the one-hot of the size go through one hidden layer to two logits; at the
// largest size nothing is ever enlarged. Normalisation always uses the statistics of the given
// batch, as in the authors' code. Learns by REINFORCE, and prefers neither action before. One
// thread.
class SizePolicy {
 public:
  struct Options {
    std::int64_t num_popularities = 16;
    std::int64_t num_sizes = 6;
    double learning_rate = 1e-4;  // of Adam; the authors'
    std::uint64_t max_steps = 0;  // calls of learn() at most
  };
  // Drawn by seed and purpose, whatever the device.
  SizePolicy(const Options& options, std::uint64_t seed, const std::string& purpose,
             const at::Device& device);

  // By how much "enlarge" is preferred to "stay" (the difference of their logits), float [n], minus
  // infinity at the largest size. `popularities` and `sizes` are int64 [n] on the device, indices
  // of their lists. With the gradient of the policy's weights unless it is switched off.
  at::Tensor preferences(const at::Tensor& popularities, const at::Tensor& sizes) const;

  // One step down the gradient of sum(-log p(action) * reward); `enlarged` (bool [n]) are the
  // actions, `rewards` is float [n]. Those that could not be enlarged are ignored.
  void learn(const at::Tensor& popularities, const at::Tensor& sizes, const at::Tensor& enlarged,
             const at::Tensor& rewards);

  // Under a name.
  void save(Checkpoint& checkpoint, const std::string& name) const;
  void restore(const Checkpoint& checkpoint, const std::string& name);

 private:
  Options options_;
  Network network_;
};

}  // namespace bet
