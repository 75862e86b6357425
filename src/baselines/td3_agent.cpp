#include "baselines/td3_agent.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mse_loss.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "model/dense_product.h"

namespace bet {
namespace {

constexpr std::size_t kLayers = 3;
constexpr std::size_t kMatrices = 2 * kLayers;  // of a net: weights and bias of each layer

// Matrices of a net with one output, as LibTorch's Linear draws them; `last_bound`, if not 0, is
// for the last layer.
void add_net(std::vector<Network::Matrix>& matrices, std::int64_t inputs, std::int64_t hidden,
             double last_bound = 0) {
  const auto add_layer = [&](std::int64_t in, std::int64_t out, double bound) {
    matrices.push_back({in, out, bound});
    matrices.push_back({1, out, bound});
  };
  const auto bound_for = [](std::int64_t in) { return 1.0 / std::sqrt(static_cast<double>(in)); };
  add_layer(inputs, hidden, bound_for(inputs));
  add_layer(hidden, hidden, bound_for(hidden));
  add_layer(hidden, 1, last_bound > 0 ? last_bound : bound_for(hidden));
}

std::vector<Network::Matrix> actor_matrices(const Td3Agent::Options& options) {
  constexpr double kLastBound = 3e-3;  // first actions lie in the middle
  std::vector<Network::Matrix> matrices;
  add_net(matrices, options.state_size, options.hidden, kLastBound);
  return matrices;
}

std::vector<Network::Matrix> critic_matrices(const Td3Agent::Options& options) {
  std::vector<Network::Matrix> matrices;
  for (int critic = 0; critic < 2; ++critic) {
    add_net(matrices, options.state_size + 1, options.hidden);
  }
  return matrices;
}

at::Tensor layer(const at::Tensor& inputs, const at::Tensor& weights, const at::Tensor& bias) {
  if (c10::GradMode::is_enabled()) return at::addmm(bias, inputs, weights);
  at::Tensor out = at::empty({inputs.size(0), weights.size(1)}, inputs.options());
  multiply_rows(out, inputs, weights, bias);
  return out;
}

// The output of the network's n-th net by row, float [rows].
at::Tensor output(const Network& network, std::size_t net, const at::Tensor& inputs) {
  at::Tensor values = inputs;
  for (std::size_t i = 0; i < kLayers; ++i) {
    const std::size_t matrix = net * kMatrices + 2 * i;
    values = layer(values, network.matrix(matrix), network.matrix(matrix + 1));
    if (i + 1 < kLayers) values.relu_();
  }
  return values.squeeze(1);
}

at::Tensor critic_inputs(const at::Tensor& states, const at::Tensor& scaled_actions) {
  return at::cat({states, scaled_actions.unsqueeze(1)}, 1);
}

Network::Options network_options(const Td3Agent::Options& options, double rate,
                                 std::uint64_t max_steps) {
  return {.learning_rate = rate, .max_steps = max_steps, .gradient_norm = options.gradient_norm};
}

}  // namespace

Td3Agent::Td3Agent(const Options& options, std::uint64_t seed, const std::string& name,
                   const at::Device& device)
    : options_(options),
      seed_(seed),
      name_(name),
      actor_(actor_matrices(options),
             network_options(options, options.actor_rate,
                             options.max_updates / options.critic_updates),
             seed, name + " actor", device),
      critics_(critic_matrices(options),
               network_options(options, options.critic_rate, options.max_updates), seed,
               name + " critics", device),
      slow_actor_(actor_matrices(options), {}, seed, name + " actor", device),
      slow_critics_(critic_matrices(options), {}, seed, name + " critics", device) {
  BET_CHECK(options.lowest < options.highest, "actions from ", options.lowest, " to ",
            options.highest, " leave nothing to choose");
}

at::Tensor Td3Agent::scaled(const at::Tensor& actions) const {
  return (actions - options_.lowest) / half_range() - 1;
}

at::Tensor Td3Agent::actions(const at::Tensor& states) const {
  const c10::AutoGradMode no_gradient(false);
  return (output(actor_, 0, states).tanh() + 1) * half_range() + options_.lowest;
}

at::Tensor Td3Agent::values(const at::Tensor& states, const at::Tensor& actions) const {
  const c10::AutoGradMode no_gradient(false);
  return output(critics_, 0, critic_inputs(states, scaled(actions)));
}

at::Tensor Td3Agent::targets(const Experience& experience) const {
  const c10::AutoGradMode no_gradient(false);
  RandomStream random(seed_, name_ + " target noise", num_updates_);
  const double noise = std::clamp(options_.target_noise * random.normal(),
                                  -options_.target_noise_bound, options_.target_noise_bound);
  const at::Tensor next_actions =
      (output(slow_actor_, 0, experience.next_states).tanh() + noise / half_range()).clamp(-1, 1);
  const at::Tensor inputs = critic_inputs(experience.next_states, next_actions);
  const at::Tensor lower =
      at::minimum(output(slow_critics_, 0, inputs), output(slow_critics_, 1, inputs));
  return experience.rewards + options_.discount * lower;
}

void Td3Agent::update(const Experience& experience) {
  const at::Tensor wanted = targets(experience);
  const at::Tensor inputs = critic_inputs(experience.states, scaled(experience.actions));
  critics_.step(at::mse_loss(output(critics_, 0, inputs), wanted) +
                at::mse_loss(output(critics_, 1, inputs), wanted));
  ++num_updates_;
  if (num_updates_ % options_.critic_updates != 0) return;
  const at::Tensor own = output(actor_, 0, experience.states).tanh();
  actor_.step(-output(critics_, 0, critic_inputs(experience.states, own)).mean());
  slow_actor_.follow(actor_, options_.follow_share);
  slow_critics_.follow(critics_, options_.follow_share);
}

void Td3Agent::save(Checkpoint& checkpoint, const std::string& name) const {
  actor_.save(checkpoint, name + " actor");
  critics_.save(checkpoint, name + " critics");
  slow_actor_.save(checkpoint, name + " slow actor");
  slow_critics_.save(checkpoint, name + " slow critics");
  checkpoint.numbers[name + " updates"] = static_cast<double>(num_updates_);
}

void Td3Agent::restore(const Checkpoint& checkpoint, const std::string& name) {
  actor_.restore(checkpoint, name + " actor");
  critics_.restore(checkpoint, name + " critics");
  slow_actor_.restore(checkpoint, name + " slow actor");
  slow_critics_.restore(checkpoint, name + " slow critics");
  num_updates_ = static_cast<std::uint64_t>(checkpoint.number(name + " updates"));
}

}  // namespace bet
