#include "baselines/size_policy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace bet {
namespace {

constexpr std::int64_t kPopularities = 4;
constexpr std::int64_t kSizes = 3;
constexpr std::int64_t kCopies = 10;  // of each state in a batch

SizePolicy::Options options(double learning_rate = 1e-3) {
  SizePolicy::Options options;
  options.num_popularities = kPopularities;
  options.num_sizes = kSizes;
  options.learning_rate = learning_rate;
  options.max_steps = 1000;
  return options;
}

// Every state, again and again.
struct States {
  States() {
    for (std::int64_t i = 0; i < kPopularities * kSizes * kCopies; ++i) {
      popularities.push_back(i % kPopularities);
      sizes.push_back(i / kPopularities % kSizes);
    }
  }
  static at::Tensor tensor(std::vector<std::int64_t>& values) {
    return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kLong);
  }
  std::vector<std::int64_t> popularities;
  std::vector<std::int64_t> sizes;
};

std::vector<float> preferences(const SizePolicy& policy, States& states) {
  const c10::AutoGradMode no_gradient(false);
  const at::Tensor found =
      policy.preferences(States::tensor(states.popularities), States::tensor(states.sizes));
  return {found.data_ptr<float>(), found.data_ptr<float>() + found.numel()};
}

// One step on actions sampled from the policy, and the rewards of a bandit.
template <typename Reward>
void play(SizePolicy& policy, States& states, std::uint64_t step, const Reward& reward) {
  RandomStream random(1, "bandit", step);
  const std::vector<float> preference = preferences(policy, states);
  const auto count = static_cast<std::int64_t>(preference.size());
  const at::Tensor enlarged = at::ones({count}, at::kBool);
  const at::Tensor rewards = at::ones({count}, at::kFloat);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool enlarge = random.uniform() < 1 / (1 + std::exp(-preference[i]));
    enlarged.data_ptr<bool>()[i] = enlarge;
    rewards.data_ptr<float>()[i] = static_cast<float>(
        reward(states.popularities[i], states.sizes[i], enlarge) + random.uniform() - 0.5);
  }
  policy.learn(States::tensor(states.popularities), States::tensor(states.sizes), enlarged,
               rewards);
}

// Enlarging pays for the popular at the smallest size and for the rare at the next one.
bool pays(std::int64_t popularity, std::int64_t size) {
  return (popularity >= kPopularities / 2) == (size == 0);
}

TEST(SizePolicy, BeginsWithoutAPreferenceAndNeverLeavesTheLargestSize) {
  const SizePolicy policy(options(), 1, "test", at::kCPU);
  States states;
  const std::vector<float> preference = preferences(policy, states);
  for (std::size_t i = 0; i < preference.size(); ++i) {
    if (states.sizes[i] == kSizes - 1) {
      EXPECT_EQ(preference[i], -INFINITY);
    } else {
      EXPECT_EQ(preference[i], 0);
    }
  }
}

TEST(SizePolicy, LearnsWhatPaysByPopularityAndSize) {
  SizePolicy policy(options(), 1, "test", at::kCPU);
  States states;
  for (std::uint64_t step = 0; step < 150; ++step) {
    play(policy, states, step, [](std::int64_t popularity, std::int64_t size, bool enlarge) {
      return enlarge == pays(popularity, size) ? 0.2 : -0.2;
    });
  }
  const std::vector<float> preference = preferences(policy, states);
  for (std::size_t i = 0; i < preference.size(); ++i) {
    if (states.sizes[i] == kSizes - 1) continue;
    const float towards = pays(states.popularities[i], states.sizes[i]) ? 1.0F : -1.0F;
    EXPECT_GT(towards * preference[i], 0.5F)
        << "popularity " << states.popularities[i] << ", size " << states.sizes[i];
  }
}

// The way back: the same policy, when what pays is turned round before it is sure of it.
TEST(SizePolicy, UnlearnsWhatNoLongerPays) {
  SizePolicy policy(options(2e-4), 1, "test", at::kCPU);
  States states;
  std::uint64_t step = 0;
  const auto teach = [&](bool pay) {
    play(policy, states, step++,
         [&](std::int64_t /*popularity*/, std::int64_t /*size*/, bool enlarge) {
           return enlarge == pay ? 0.2 : -0.2;
         });
    return preferences(policy, states)[0];
  };
  while (teach(true) < 0.5F) ASSERT_LT(step, 100U);
  while (teach(false) > -0.5F) ASSERT_LT(step, 300U);
}

TEST(SizePolicy, LearnsNothingFromTheLargestSize) {
  SizePolicy policy(options(), 1, "test", at::kCPU);
  const at::Tensor popularities = at::ones({8}, at::kLong);
  const at::Tensor largest = at::ones({8}, at::kLong) * (kSizes - 1);
  for (int step = 0; step < 3; ++step) {
    policy.learn(popularities, largest, at::ones({8}, at::kBool).logical_not(),
                 at::ones({8}, at::kFloat));
  }
  States states;
  EXPECT_EQ(preferences(policy, states)[0], 0);
}

TEST(SizePolicy, ResumesFromItsState) {
  States states;
  const auto reward = [](std::int64_t popularity, std::int64_t size, bool enlarge) {
    return enlarge == pays(popularity, size) ? 0.2 : -0.2;
  };
  SizePolicy whole(options(), 1, "test", at::kCPU);
  Checkpoint state;
  for (std::uint64_t step = 0; step < 10; ++step) {
    if (step == 5) whole.save(state, "policy");
    // What was saved shares memory with the policy: keep it as it was.
    if (step == 5) {
      for (auto& [name, tensor] : state.tensors) tensor = tensor.clone();
    }
    play(whole, states, step, reward);
  }
  SizePolicy resumed(options(), 2, "test", at::kCPU);
  resumed.restore(state, "policy");
  for (std::uint64_t step = 5; step < 10; ++step) play(resumed, states, step, reward);
  EXPECT_EQ(preferences(resumed, states), preferences(whole, states));
}

}  // namespace
}  // namespace bet
