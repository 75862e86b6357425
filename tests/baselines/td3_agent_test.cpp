#include "baselines/td3_agent.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "support/expect_error.h"

namespace bet {
namespace {

Td3Agent::Options small_options(std::uint64_t max_updates) {
  Td3Agent::Options options;
  options.state_size = 2;
  options.lowest = 1;
  options.highest = 128;
  options.hidden = 48;
  options.max_updates = max_updates;
  return options;
}

constexpr std::int64_t kRows = 256;

torch::Tensor random_states() { return 2 * torch::rand({kRows, 2}) - 1; }
torch::Tensor random_actions() { return 1 + 127 * torch::rand({kRows}); }

// Experience of any action in any state, in an environment with this reward.
template <typename Reward>
Td3Agent::Experience random_experience(const Reward& reward) {
  const torch::Tensor states = random_states();
  const torch::Tensor actions = random_actions();
  return {states, actions, reward(states, actions), random_states()};
}

torch::Tensor best_action(const torch::Tensor& states) {
  return 64 + 30 * states.select(1, 0) - 20 * states.select(1, 1);
}

TEST(Td3Agent, BeginsInTheMiddle) {
  const Td3Agent agent(small_options(1), 1, "test", at::kCPU);
  const torch::Tensor actions = agent.actions(random_states());
  EXPECT_LT((actions - 64.5).abs().max().item<double>(), 3.0);
}

TEST(Td3Agent, MovesItsPolicyToTheBestActionOfEachState) {
  torch::manual_seed(1);
  Td3Agent::Options options = small_options(1'500);
  options.discount = 0;
  Td3Agent agent(options, 1, "test", at::kCPU);
  const torch::Tensor states = random_states();
  const auto mean_error = [&] {
    return (agent.actions(states) - best_action(states)).abs().mean().item<double>();
  };
  EXPECT_GT(mean_error(), 14.0);
  for (std::uint64_t i = 0; i < options.max_updates; ++i) {
    agent.update(random_experience([](const torch::Tensor& s, const torch::Tensor& a) {
      return -((a - best_action(s)) / 32).square();
    }));
  }
  EXPECT_LT(mean_error(), 4.0);
  const torch::Tensor actions = agent.actions(states);
  EXPECT_GE(actions.min().item<double>(), 1.0);
  EXPECT_LE(actions.max().item<double>(), 128.0);
}

// The state lasts and pays its first number at every step: worth 1 / (1 - discount) of it.
TEST(Td3Agent, ItsCriticsLearnWhatIsToCome) {
  torch::manual_seed(2);
  Td3Agent::Options options = small_options(1'000);
  options.discount = 0.5;
  options.follow_share = 0.05;
  Td3Agent agent(options, 2, "test", at::kCPU);
  for (std::uint64_t i = 0; i < options.max_updates; ++i) {
    const torch::Tensor states = random_states();
    agent.update({states, random_actions(), states.select(1, 0), states});
  }
  const torch::Tensor states = random_states();
  const torch::Tensor values = agent.values(states, random_actions());
  EXPECT_LT((values - 2 * states.select(1, 0)).abs().mean().item<double>(), 0.1);
}

TEST(Td3Agent, TheLowerOfBothCriticsMakesTheTarget) {
  torch::manual_seed(3);
  const auto experience = random_experience(
      [](const torch::Tensor& s, const torch::Tensor& /*a*/) { return s.select(1, 0).clone(); });
  Td3Agent::Options options = small_options(1);
  double least = 0;
  double most = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {  // the second critic is the lower one in some
    options.target_noise = 0;
    const Td3Agent agent(options, seed, "test", at::kCPU);
    // The slow copies are still what they are copies of.
    const torch::Tensor by_first =
        experience.rewards +
        0.99 * agent.values(experience.next_states, agent.actions(experience.next_states));
    const torch::Tensor above = by_first - agent.targets(experience);
    least = std::min(least, above.min().item<double>());
    most = std::max(most, above.max().item<double>());
    options.target_noise = 1e9;
    const Td3Agent noisy(options, seed, "test", at::kCPU);
    const torch::Tensor moved = (noisy.targets(experience) - agent.targets(experience)).abs();
    EXPECT_GT(moved.max().item<double>(), 0.0);
    EXPECT_LT(moved.max().item<double>(), 0.05) << "the noise is cut to five of 127";
  }
  EXPECT_GT(least, -1e-5);
  EXPECT_GT(most, 1e-3);
}

TEST(Td3Agent, ActsOtherwiseAfterEverySecondUpdate) {
  torch::manual_seed(4);
  Td3Agent agent(small_options(4), 4, "test", at::kCPU);
  const torch::Tensor states = random_states();
  const auto update = [&] {
    agent.update(random_experience(
        [](const torch::Tensor& /*s*/, const torch::Tensor& a) { return a / 128; }));
    return agent.actions(states);
  };
  const torch::Tensor first = agent.actions(states);
  EXPECT_TRUE(torch::equal(update(), first));
  const torch::Tensor second = update();
  EXPECT_FALSE(torch::equal(second, first));
  EXPECT_TRUE(torch::equal(update(), second));
  EXPECT_FALSE(torch::equal(update(), second));
}

TEST(Td3Agent, ResumesToTheSameBitsFromACheckpoint) {
  const auto updated = [](Td3Agent& agent, int times) {
    for (int i = 0; i < times; ++i) {
      torch::manual_seed(10 + static_cast<std::uint64_t>(agent.num_updates()));
      agent.update(random_experience(
          [](const torch::Tensor& s, const torch::Tensor& a) { return a / 128 * s.select(1, 0); }));
    }
  };
  Td3Agent whole(small_options(8), 5, "test", at::kCPU);
  updated(whole, 3);
  Checkpoint checkpoint;
  whole.save(checkpoint, "agent");
  for (auto& [name, tensor] : checkpoint.tensors) tensor = tensor.clone();
  updated(whole, 5);
  Td3Agent resumed(small_options(8), 5, "test", at::kCPU);
  resumed.restore(checkpoint, "agent");
  updated(resumed, 5);
  torch::manual_seed(6);
  const torch::Tensor states = random_states();
  const torch::Tensor actions = random_actions();
  EXPECT_TRUE(torch::equal(resumed.actions(states), whole.actions(states)));
  EXPECT_TRUE(torch::equal(resumed.values(states, actions), whole.values(states, actions)));
}

TEST(Td3Agent, NeedsSomethingToChoose) {
  Td3Agent::Options options = small_options(1);
  options.highest = options.lowest;
  EXPECT_NE(test::error_of([&] { Td3Agent(options, 1, "test", at::kCPU); }).find("from 1 to 1"),
            std::string::npos);
}

}  // namespace
}  // namespace bet
