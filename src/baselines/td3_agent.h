#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "baselines/network.h"

namespace bet {

// TD3 (Fujimoto et al., ICML'18) for actions of one number: an actor, two critics of which the
// lower counts, and slow copies of them that make the critics' targets. Tensors on the device it
// was made for; one thread.
class Td3Agent {
 public:
  struct Options {
    std::int64_t state_size = 0;
    double lowest = 0;  // of actions
    double highest = 0;
    std::uint64_t max_updates = 0;

    // As in the code of CIESS's authors.
    std::int64_t hidden = 256;  // units of each of two layers
    double critic_rate = 3e-3;
    double actor_rate = 1e-3;
    double gradient_norm = 0.01;  // longer gradients are cut to it
    double discount = 0.99;
    double follow_share = 0.005;  // tau, of the slow copies
    double target_noise = 2;      // deviation, in units of actions
    double target_noise_bound = 5;
    std::uint64_t critic_updates = 2;  // for each one of the actor and the slow copies
  };

  // `name` names its random streams.
  Td3Agent(const Options& options, std::uint64_t seed, const std::string& name,
           const at::Device& device);

  // What the actor does in each of the states, float [rows, state_size]: float [rows], within
  // lowest and highest. No gradient.
  at::Tensor actions(const at::Tensor& states) const;

  // What the first critic expects of an action in each state: float [rows]. No gradient.
  at::Tensor values(const at::Tensor& states, const at::Tensor& actions) const;

  // Actions and their results, by row.
  struct Experience {
    at::Tensor states;  // float [rows, state_size]
    at::Tensor actions;
    at::Tensor rewards;
    at::Tensor next_states;
  };

  // What the critics are to learn: the reward and, discounted, the lower of both slow critics'
  // values of the slow actor's next action, to which one random number is added for all rows. No
  // state is terminal. The random number is that of the next update.
  at::Tensor targets(const Experience& experience) const;

  // One step of the critics and, every critic_updates-th time, of the actor and the slow copies.
  void update(const Experience& experience);

  std::uint64_t num_updates() const { return num_updates_; }

  // Under a name.
  void save(Checkpoint& checkpoint, const std::string& name) const;
  void restore(const Checkpoint& checkpoint, const std::string& name);

 private:
  double half_range() const { return (options_.highest - options_.lowest) / 2; }
  at::Tensor scaled(const at::Tensor& actions) const;  // to [-1, 1]

  Options options_;
  std::uint64_t seed_;
  std::string name_;
  Network actor_;
  Network critics_;
  Network slow_actor_;
  Network slow_critics_;
  std::uint64_t num_updates_ = 0;
};

}  // namespace bet
