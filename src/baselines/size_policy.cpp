#include "baselines/size_policy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>

namespace bet {
namespace {

constexpr std::int64_t kEmbedding = 32;  // of a popularity
constexpr std::int64_t kHidden = 512;

// The network's matrices, in their order.
enum Matrix : std::size_t {
  kPopularities,
  kInputScale,
  kInputShift,
  kInputWeights,
  kInputBias,
  kHiddenScale,
  kHiddenShift,
  kOutputWeights,
  kOutputBias
};

std::vector<Network::Matrix> matrices(const SizePolicy::Options& options) {
  const std::int64_t inputs = kEmbedding + options.num_sizes;
  const double input_bound = 1 / std::sqrt(static_cast<double>(inputs));
  // The deviation is that of the authors' N(0, 1); the values are normalised afterwards anyway.
  const double embedding_bound = std::sqrt(3.0);
  return {{options.num_popularities, kEmbedding, embedding_bound, 0},
          {1, kEmbedding, 0, 1},
          {1, kEmbedding, 0, 0},
          {inputs, kHidden, input_bound, 0},
          {1, kHidden, input_bound, 0},
          {1, kHidden, 0, 1},
          {1, kHidden, 0, 0},
          // The difference of the two logits: the softmax depends on nothing else.
          {kHidden, 1, 0, 0},
          {1, 1, 0, 0}};
}

at::Tensor normalised(const at::Tensor& rows, const at::Tensor& scale, const at::Tensor& shift) {
  constexpr double kEpsilon = 1e-5;  // LibTorch's
  const at::Tensor centred = rows - rows.mean(0, /*keepdim=*/true);
  const at::Tensor variance = centred.square().mean(0, /*keepdim=*/true);
  return centred * (variance + kEpsilon).rsqrt() * scale + shift;
}

// Products with these are lookups whose gradients are summed in one order on every device.
at::Tensor picked(const at::Tensor& indices, std::int64_t count) {
  return indices.unsqueeze(1).eq(at::arange(count, indices.options())).to(at::kFloat);
}

}  // namespace

SizePolicy::SizePolicy(const Options& options, std::uint64_t seed, const std::string& purpose,
                       const at::Device& device)
    : options_(options),
      network_(matrices(options),
               {.learning_rate = options.learning_rate, .max_steps = options.max_steps}, seed,
               purpose, device) {}

at::Tensor SizePolicy::preferences(const at::Tensor& popularities, const at::Tensor& sizes) const {
  const at::Tensor popularity = normalised(
      at::matmul(picked(popularities, options_.num_popularities), network_.matrix(kPopularities)),
      network_.matrix(kInputScale), network_.matrix(kInputShift));
  const at::Tensor input = at::cat({popularity, picked(sizes, options_.num_sizes)}, 1);
  const at::Tensor hidden = at::tanh(
      normalised(at::matmul(input, network_.matrix(kInputWeights)) + network_.matrix(kInputBias),
                 network_.matrix(kHiddenScale), network_.matrix(kHiddenShift)));
  const at::Tensor preference =
      (at::matmul(hidden, network_.matrix(kOutputWeights)) + network_.matrix(kOutputBias))
          .squeeze(1);
  return preference.masked_fill(sizes.eq(options_.num_sizes - 1),
                                -std::numeric_limits<double>::infinity());
}

void SizePolicy::learn(const at::Tensor& popularities, const at::Tensor& sizes,
                       const at::Tensor& enlarged, const at::Tensor& rewards) {
  // log p(enlarge) = log sigmoid(x), log p(stay) = log sigmoid(-x).
  const at::Tensor free = sizes.lt(options_.num_sizes - 1);
  const at::Tensor preference = preferences(popularities, sizes).masked_fill(free.logical_not(), 0);
  const at::Tensor log_chance = at::log_sigmoid(at::where(enlarged, preference, -preference));
  network_.step(-(log_chance * rewards * free).sum());
}

void SizePolicy::save(Checkpoint& checkpoint, const std::string& name) const {
  network_.save(checkpoint, name);
}

void SizePolicy::restore(const Checkpoint& checkpoint, const std::string& name) {
  network_.restore(checkpoint, name);
}

}  // namespace bet
