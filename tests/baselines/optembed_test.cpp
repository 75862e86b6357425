#include "baselines/optembed.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "support/method_case.h"

namespace bet {
namespace {

using test::MethodCase;

constexpr std::int64_t kUsers = 3;

// Rows of norm 1, 2, 3 (users) and 2, 4 (items): relative 0.5, 1, 1.5 and 2/3, 4/3.
ModelParameters rows_of_known_norms() {
  ModelParameters table = make_table(full_plan({3, 2, 8, 1}), 1, 1);
  const float norms[] = {1, 2, 3, 2, 4};
  for (std::int64_t row = 0; row < 5; ++row) {
    table.values[row].mul_(norms[row] / table.values[row].abs().sum().item<float>());
  }
  return table;
}

TEST(OptEmbedGates, LetLongRowsPassAndTheFirstColumns) {
  const ModelParameters table = rows_of_known_norms();
  OptEmbedGates gates(table, kUsers, 1, {.alpha = 0, .learning_rate = 1});
  gates.thresholds().fill_(0.9);
  gates.set_sizes({3, 8});
  at::Tensor expected = table.values.clone();
  expected[0].zero_();
  expected[3].zero_();
  expected.slice(0, 0, kUsers).slice(1, 3).zero_();
  EXPECT_TRUE(torch::equal(gates.filtered(table.values).detach(), expected));
  const at::Tensor passing = gates.passing(table.values);
  EXPECT_EQ(
      std::vector<int>(passing.data_ptr<std::uint8_t>(), passing.data_ptr<std::uint8_t>() + 5),
      (std::vector<int>{0, 1, 1, 0, 1}));
}

TEST(OptEmbedGates, TakeTheLongTailedSlopeBackward) {
  const at::Tensor x = torch::tensor({-1.5, -0.7, -0.1, 0.0, 0.25, 0.39, 0.5, 0.9, 1.2});
  const at::Tensor slopes = torch::tensor({0.0, 0.4, 1.6, 2.0, 1.0, 0.44, 0.4, 0.4, 0.0});
  EXPECT_TRUE(torch::allclose(OptEmbedGates::slope(x), slopes));

  // d(loss)/d(threshold) = -sum over the field's rows of slope * (loss's gradient . row).
  const ModelParameters table = rows_of_known_norms();
  OptEmbedGates gates(table, kUsers, 1, {.alpha = 0.2, .learning_rate = 0.5});
  gates.thresholds().fill_(0.9);
  torch::manual_seed(2);
  const at::Tensor weights = torch::randn(table.values.sizes());
  const at::Tensor loss = (gates.filtered(table.values) * weights).sum();
  const at::Tensor gradient = torch::autograd::grad({loss}, gates.parameters())[0];
  const at::Tensor dots = (table.values * weights).sum(1);
  const double relative[] = {0.5, 1, 1.5, 2.0 / 3, 4.0 / 3};
  double expected[2] = {0, 0};
  for (std::int64_t row = 0; row < 5; ++row) {
    const at::Tensor above = torch::tensor({relative[row] - 0.9});
    expected[row < kUsers ? 0 : 1] -=
        OptEmbedGates::slope(above).item<double>() * dots[row].item<double>();
  }
  EXPECT_NEAR(gradient[0][0].item<double>(), expected[0], 1e-5);
  EXPECT_NEAR(gradient[0][1].item<double>(), expected[1], 1e-5);

  // Plain SGD on loss + alpha * sum of exp(-t).
  gates.update(std::vector<at::Tensor>{gradient}, loss);
  for (const int field : {0, 1}) {
    EXPECT_NEAR(gates.thresholds()[0][field].item<double>(),
                0.9 - 0.5 * (expected[field] - 0.2 * std::exp(-0.9)), 1e-5);
  }
}

// A score with one peak, that differs for any two candidates.
double peak(const FieldSizes& sizes) {
  const double u = double(sizes[0]) - 37;
  const double v = double(sizes[1]) - 90;
  return 100 - std::abs(u) - std::abs(v) - 1e-4 * sizes[0];
}

TEST(SizeEvolution, KeepsEveryScoreWithItsCandidateAndTheBestOfAllSeen) {
  SizeEvolution evolution(128, 3);
  std::set<FieldSizes> asked;
  double best = -1e9;
  while (!evolution.is_over()) {
    const bool went_on = evolution.advance([&](const FieldSizes& sizes) {
      EXPECT_TRUE(asked.insert(sizes).second) << "scored twice";
      for (const std::uint32_t size : sizes) {
        EXPECT_GE(size, 1U);
        EXPECT_LE(size, 128U);
      }
      best = std::max(best, peak(sizes));
      return peak(sizes);
    });
    ASSERT_TRUE(went_on);
    EXPECT_EQ(evolution.ranking().front().first, best);
    for (const auto& [score, sizes] : evolution.ranking()) EXPECT_EQ(score, peak(sizes));
    EXPECT_EQ(evolution.ranking().size(), asked.size());
  }
  EXPECT_EQ(evolution.generation(), SizeEvolution::kGenerations + 1);
  // Far better than the 20 that it began with, of which one in 128 x 128 would be the peak.
  EXPECT_GT(best, 90);
}

TEST(SizeEvolution, ResumesAsWithoutABreak) {
  SizeEvolution whole(64, 5);
  SizeEvolution broken(64, 5);
  for (int i = 0; i < 10; ++i) whole.advance(peak);
  for (int i = 0; i < 4; ++i) broken.advance(peak);
  SizeEvolution resumed(64, 5);
  resumed.restore(broken.generation(), broken.ranking());
  for (int i = 4; i < 10; ++i) resumed.advance(peak);
  EXPECT_EQ(whole.ranking(), resumed.ranking());
}

TEST(OptEmbed, ProposesPassingRowsAtTheWinningSizes) {
  for (const BackboneKind* backbone : backbones()) {
    const MethodCase toy("optembed", std::string(backbone->name), 8);
    const Proposal proposal = toy.propose("optembed", std::nullopt);
    ASSERT_EQ(proposal.plans.size(), 1U);
    std::set<std::uint16_t> users(proposal.plans[0].user_sizes().begin(),
                                  proposal.plans[0].user_sizes().end());
    std::set<std::uint16_t> items(proposal.plans[0].item_sizes().begin(),
                                  proposal.plans[0].item_sizes().end());
    users.erase(0);
    items.erase(0);
    EXPECT_LE(users.size(), 1U) << backbone->name;
    EXPECT_LE(items.size(), 1U) << backbone->name;
    EXPECT_GT(proposal.plans[0].num_params(), 0U);
    EXPECT_LT(proposal.plans[0].num_params(), toy.shape.full_params());
    EXPECT_EQ(proposal.steps, toy.input(std::nullopt).pretrained().best_length);
  }
}

TEST(OptEmbed, ResumesToTheSamePlan) {
  MethodCase whole("optembed", "lightgcn", 8);
  int all = 0;
  whole.hooks.stop = [&] { return ++all < 0; };
  const SizePlan expected = whole.propose("optembed", std::nullopt).plans.at(0);
  for (const int killed_at : {7, all - 3}) {  // in the supernet's training, in the evolution
    MethodCase broken("optembed", "lightgcn", 8);
    broken.hooks.save_seconds = 0;
    int asked = 0;
    broken.hooks.stop = [&]() -> bool {
      if (++asked > killed_at) throw std::runtime_error("killed");
      return false;
    };
    EXPECT_THROW(broken.propose("optembed", std::nullopt), std::runtime_error);
    broken.hooks.stop = nullptr;
    EXPECT_TRUE(broken.propose("optembed", std::nullopt).plans.at(0) == expected) << killed_at;
  }
}

}  // namespace
}  // namespace bet
