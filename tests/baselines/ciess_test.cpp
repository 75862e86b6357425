#include "baselines/ciess.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "base/random.h"
#include "baselines/size_agent.h"
#include "support/method_case.h"

namespace bet {
namespace {

// Shares of the sizes that a step leads to.
std::map<std::uint32_t, double> shares_from(std::uint32_t size) {
  RandomStream random(1, "test", size);
  constexpr int kDraws = 100'000;
  std::map<std::uint32_t, double> shares;
  for (int i = 0; i < kDraws; ++i)
    shares[walk_step(size, 1, 128, random.uniform())] += 1.0 / kDraws;
  return shares;
}

TEST(SizeWalk, GoesToNearSizesByOneOverTheirDistance) {
  const auto expect_law = [](std::uint32_t size, std::uint32_t first, std::uint32_t last) {
    const std::map<std::uint32_t, double> shares = shares_from(size);
    double sum = 0;
    for (std::uint32_t other = first; other <= last; ++other) {
      if (other != size) sum += 1.0 / std::abs(static_cast<int>(other) - static_cast<int>(size));
    }
    EXPECT_EQ(shares.size(), last - first) << "all but the size itself, and no other";
    for (const auto& [other, share] : shares) {
      const int distance = std::abs(static_cast<int>(other) - static_cast<int>(size));
      EXPECT_LE(distance, 5);
      EXPECT_NEAR(share, 1.0 / distance / sum, 0.006) << "from " << size << " to " << other;
    }
  };
  expect_law(50, 45, 55);
  expect_law(1, 1, 6);
  expect_law(3, 1, 8);
  expect_law(127, 122, 128);
  EXPECT_EQ(walk_step(7, 7, 7, 0.5), 7U);
}

SizeAgent::Options agent_options(std::uint64_t trainings, double memory_weight) {
  return {.name = "users",
          .lowest = 1,
          .highest = 128,
          .memory_weight = memory_weight,
          .max_trainings = trainings,
          .seed = 3,
          .batch = 512};
}

TEST(SizeAgent, SeesFrequencySizeAndQualityFromMinusOneToOne) {
  const std::vector<std::uint32_t> frequencies = {5, 25, 15, 5};
  SizeAgent agent(agent_options(12, 0.1), frequencies, torch::tensor({0.2F, 0.4F, 0.1F, 1e-5F}));
  const torch::Tensor begin = torch::tensor(
      {{-1.0F, 1.0F, -1.0F}, {1.0F, 1.0F, -1.0F}, {0.0F, 1.0F, -1.0F}, {-1.0F, 1.0F, -1.0F}});
  EXPECT_TRUE(torch::allclose(agent.states(), begin)) << agent.states();
  const std::vector<std::uint16_t> sizes = {1, 128, 33, 2};
  agent.learn(sizes, torch::tensor({0.1F, 0.5F, 0.075F, 0.0F}));
  const torch::Tensor then = torch::tensor({{-1.0F, -1.0F, 0.0F},
                                            {1.0F, 1.0F, 1.0F},
                                            {0.0F, 64.0F / 127 - 1, 0.5F},
                                            {-1.0F, 2.0F / 127 - 1, -1.0F}});
  EXPECT_TRUE(torch::allclose(agent.states(), then)) << agent.states();
  EXPECT_EQ(agent.sizes_of(0), sizes);
  while (agent.num_trainings() < SizeAgent::kEpisode) {
    agent.learn(sizes, torch::tensor({0.1F, 0.5F, 0.075F, 0.0F}));
  }
  EXPECT_TRUE(torch::allclose(agent.states(), begin)) << "an episode is over";
}

// Every training has sizes and qualities of its own, from which rows can be told.
TEST(SizeAgent, LearnsFromWhatItDidAndWhatCameOfIt) {
  constexpr int kRows = 3;
  constexpr double kWeight = 0.1;
  const std::vector<std::uint32_t> frequencies = {0, 1, 2};
  const torch::Tensor peaks = torch::ones({kRows});
  SizeAgent agent(agent_options(120, kWeight), frequencies, peaks);
  constexpr int kTrainings = 13;
  const auto size_of = [](int training, int row) { return 1 + 7 * training + row; };
  const auto quality_of = [](int training, int row) { return 0.01 * training + 0.2 * row; };
  for (int training = 0; training < kTrainings; ++training) {
    std::vector<std::uint16_t> sizes;
    std::vector<float> qualities;
    for (int row = 0; row < kRows; ++row) {
      sizes.push_back(static_cast<std::uint16_t>(size_of(training, row)));
      qualities.push_back(static_cast<float>(quality_of(training, row)));
    }
    agent.learn(sizes, torch::tensor(qualities));
  }
  const Td3Agent::Experience experience = agent.experience();
  ASSERT_EQ(experience.states.sizes(), (torch::IntArrayRef{512, 3}));
  std::map<int, int> seen;
  for (std::int64_t i = 0; i < 512; ++i) {
    const auto row = static_cast<int>(std::lround(experience.states[i][0].item<float>() + 1));
    const auto size = static_cast<int>(experience.actions[i].item<float>());
    const int training = (size - 1 - row) / 7;
    ASSERT_EQ(size_of(training, row), size);
    ++seen[training * kRows + row];
    const double quality = quality_of(training, row);
    EXPECT_NEAR(experience.rewards[i].item<double>(),
                quality - kWeight * std::pow((size - 1) / 128.0, 2), 1e-6);
    EXPECT_NEAR(experience.next_states[i][1].item<double>(), 2 * (size - 1) / 127.0 - 1, 1e-6);
    EXPECT_NEAR(experience.next_states[i][2].item<double>(), 2 * quality - 1, 1e-6);
    const bool first = training % 11 == 0;
    const double size_before = first ? 128 : size_of(training - 1, row);
    const double quality_before = first ? 0 : quality_of(training - 1, row);
    EXPECT_NEAR(experience.states[i][1].item<double>(), 2 * (size_before - 1) / 127.0 - 1, 1e-6);
    EXPECT_NEAR(experience.states[i][2].item<double>(), 2 * quality_before - 1, 1e-6);
  }
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(kTrainings * kRows));
  for (const auto& [place, count] : seen) EXPECT_NEAR(count, 512 / 39, 12) << place;
}

// Where quality does not depend on sizes they shrink; where it pays for them they grow.
TEST(SizeAgent, ShrinksSizesThatDoNotPayAndGrowsThoseThatDo) {
  const auto mean_after = [](double gain, double weight) {
    constexpr std::uint64_t kTrainings = 44;
    const std::vector<std::uint32_t> frequencies = {1, 2, 3, 4, 5, 6, 7, 8};
    SizeAgent agent(agent_options(kTrainings, weight), frequencies, torch::full({8}, 0.5F));
    double mean = 0;
    while (agent.num_trainings() < kTrainings) {
      const std::vector<std::uint16_t> sizes = agent.choose();
      std::vector<float> qualities;
      for (const std::uint16_t size : sizes) {
        EXPECT_GE(size, 1);
        EXPECT_LE(size, 128);
        qualities.push_back(static_cast<float>(0.1 + gain * size / 128));
      }
      if (agent.num_trainings() >= kTrainings - 11) {
        mean += std::accumulate(sizes.begin(), sizes.end(), 0.0) / (8 * 11);
      }
      agent.learn(sizes, torch::tensor(qualities));
    }
    return mean;
  };
  EXPECT_LT(mean_after(0, 0.5), 45.0);
  EXPECT_GT(mean_after(0.5, 0), 84.0);
}

TEST(Ciess, ThreeOfBestScoreBetweenHalfOfTheBudgetAndTheBudget) {
  const std::vector<VisitedSizes> visited = {{100, 0.9}, {50, 0.8}, {51, 0.2}, {101, 1.0},
                                             {80, 0.5},  {99, 0.5}, {60, 0.7}};
  EXPECT_EQ(visited_within(visited, 100), (std::vector<std::size_t>{0, 6, 4}));
  EXPECT_EQ(visited_within(visited, 50), (std::vector<std::size_t>{1}));
  EXPECT_TRUE(visited_within(visited, 49).empty());
  EXPECT_EQ(visited_nearest(visited, 49), 1U);
  EXPECT_EQ(visited_nearest(visited, 30), 1U);
  EXPECT_EQ(visited_nearest(visited, 300), 3U) << "none above: the largest";
  const std::vector<VisitedSizes> ties = {{70, 0.1}, {60, 0.1}, {60, 0.3}, {60, 0.2}};
  EXPECT_EQ(visited_nearest(ties, 20), 2U);
}

TEST(Ciess, ScaledSizesSumToTheBudgetAndKeepTheirOrder) {
  for (const std::uint32_t tables : {1U, 2U}) {
    const TableShape shape{30, 20, 16, 1, tables};
    const SizePlan plan = mixed_random_plan(shape, shape.total_size(9) * tables, 4);
    for (const std::uint64_t total : {50U, 51U, 123U, 400U, 449U, 451U, 799U, 800U}) {
      const SizePlan scaled = scaled_plan(plan, total);
      EXPECT_EQ(scaled.num_params(), total * tables);
      for (std::size_t a = 0; a < 30; ++a) {
        for (std::size_t b = 0; b < 20; ++b) {
          if (plan.user_sizes()[a] > plan.item_sizes()[b]) {
            EXPECT_GE(scaled.user_sizes()[a], scaled.item_sizes()[b]);
          }
        }
      }
    }
  }
  const TableShape without{30, 20, 16, 0};
  EXPECT_EQ(scaled_plan(full_plan(without), 30).num_params(), 30U);
  const SizePlan small = scaled_plan(mixed_random_plan(without, 450, 1), 60);
  EXPECT_EQ(small.user_counts()[0] + small.item_counts()[0], 0U) << "no row is left without any";
}

// All that the method needs, on toy data.
struct Toy : test::MethodCase {
  std::uint64_t params = shape.full_params() / 2;
  std::vector<std::string> log;

  explicit Toy(const std::string& backbone = "lightgcn") : MethodCase("ciess", backbone) {
    options.iterations = 6;
    fit.schedule.max_steps = 20;
    hooks.log = [this](const std::string& line) { log.push_back(line); };
    hooks.save_seconds = 0;
    pretrained = [this] {
      const SizePlan full = full_plan(shape);
      Pretrained result;
      result.table = make_backbone(fit.model, graph)->initial(std::span(&full, 1), 1);
      return result;
    };
  }

  Proposal propose() const { return MethodCase::propose("ciess", params); }
};

TEST(Ciess, MeetsEveryBudgetWithEveryBackbone) {
  for (const BackboneKind* backbone : backbones()) {
    Toy toy{std::string(backbone->name)};
    toy.options.iterations = 2;
    Proposal first = toy.propose();
    EXPECT_EQ(first.trainings, 2U);
    EXPECT_EQ(first.steps, 40U);
    EXPECT_FALSE(first.stopped);
    EXPECT_NE(first.note.find("reduced: 2 of 330 trainings"), std::string::npos) << first.note;
    for (const int percent : {8, 20, 60, 99}) {  // from the same trainings
      toy.params = toy.shape.full_params() * static_cast<std::uint64_t>(percent) / 100;
      const Proposal proposal = toy.propose();
      ASSERT_FALSE(proposal.plans.empty());
      ASSERT_EQ(proposal.labels.size(), proposal.plans.size());
      for (const SizePlan& plan : proposal.plans) {
        EXPECT_EQ(plan.num_params(), toy.params / toy.shape.tables * toy.shape.tables);
      }
    }
    EXPECT_EQ(toy.log.size(), 2U) << "the trainings were not made again";
  }
}

TEST(Ciess, ResumesToTheSameTrainings) {
  Toy whole;
  const Proposal expected = whole.propose();
  ASSERT_EQ(whole.log.size(), 6U);
  Toy broken;
  broken.hooks.progress = [&](const Progress& progress) {
    if (progress.done == 4) throw std::runtime_error("killed");
  };
  EXPECT_THROW(broken.propose(), std::runtime_error);
  EXPECT_EQ(broken.log.size(), 3U) << "of the fourth nothing is kept";
  broken.hooks.progress = nullptr;
  const Proposal resumed = broken.propose();
  EXPECT_EQ(broken.log, whole.log);
  EXPECT_EQ(resumed.plans, expected.plans);
  EXPECT_EQ(resumed.labels, expected.labels);
}

// The search knows no budget: a run with another one takes it from the cache, and what decides the
// search tells searches apart.
TEST(Ciess, SearchesOnceForAllBudgets) {
  const test::TempFolder cache;
  const auto propose = [&](std::uint64_t divisor, auto change) {
    Toy toy;  // with a run folder of its own
    toy.cache = cache.path();
    toy.params = toy.shape.full_params() / divisor;
    change(toy);
    const Proposal proposal = toy.propose();
    EXPECT_EQ(proposal.plans.at(0).num_params(), toy.params);
    EXPECT_EQ(proposal.trainings, toy.options.iterations);
    const bool shared = toy.log.size() == 1;
    EXPECT_TRUE(shared || toy.log.size() == toy.options.iterations);
    return std::pair(shared, proposal.plans);
  };
  const auto as_it_is = [](Toy&) {};
  const auto first = propose(2, as_it_is);
  EXPECT_FALSE(first.first);
  EXPECT_TRUE(propose(4, as_it_is).first);
  const auto again = propose(2, as_it_is);
  EXPECT_TRUE(again.first);
  EXPECT_EQ(again.second, first.second);
  EXPECT_FALSE(propose(2, [](Toy& toy) { toy.options.memory_weight = 0.5; }).first);
  EXPECT_FALSE(propose(2, [](Toy& toy) { toy.options.iterations = 5; }).first);
  EXPECT_FALSE(propose(2, [](Toy& toy) { toy.training_identity = "other data"; }).first);
  // A damaged file is not used, and made anew.
  for (const auto& entry : std::filesystem::directory_iterator(cache.path())) {
    if (entry.path().extension() == ".ckpt") std::filesystem::resize_file(entry.path(), 10);
  }
  Toy toy;
  toy.cache = cache.path();
  toy.propose();
  EXPECT_EQ(toy.log.size(), 7U);
  EXPECT_NE(toy.log.at(0).find("the cache was not used"), std::string::npos) << toy.log.at(0);
  EXPECT_TRUE(propose(2, as_it_is).first);
}

// What the user stopped is not the search.
TEST(Ciess, StoppedItIsNotShared) {
  const test::TempFolder cache;
  Toy stopped;
  stopped.cache = cache.path();
  int asked = 0;
  stopped.hooks.stop = [&] { return ++asked > 30; };
  EXPECT_TRUE(stopped.propose().stopped);
  Toy toy;
  toy.cache = cache.path();
  EXPECT_EQ(toy.propose().trainings, 6U);
  EXPECT_EQ(toy.log.size(), 6U);
}

TEST(Ciess, StoppedItProposesWhatItHasAndStaysSo) {
  Toy toy;
  int asked = 0;
  toy.hooks.stop = [&] { return ++asked > 30; };  // in the third training: the first one is made
  const Proposal stopped = toy.propose();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.trainings, 2U);
  EXPECT_NE(stopped.note.find("reduced: 2 of 330 trainings"), std::string::npos);
  toy.hooks.stop = nullptr;
  const Proposal again = toy.propose();
  EXPECT_TRUE(again.stopped);
  EXPECT_EQ(again.trainings, 2U);
  EXPECT_EQ(again.plans, stopped.plans);
  EXPECT_EQ(toy.log.size(), 2U);
}

TEST(Ciess, StoppedAtOnceItMakesOneTraining) {
  Toy toy;
  toy.hooks.stop = [] { return true; };
  const Proposal proposal = toy.propose();
  EXPECT_EQ(proposal.trainings, 1U);
  EXPECT_EQ(proposal.plans.size(), 1U);
}

}  // namespace
}  // namespace bet
