#include "baselines/pep.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "support/method_case.h"

namespace bet {
namespace {

using test::MethodCase;

ModelParameters small_table(std::uint64_t rows = 40) {
  return make_table(full_plan({rows / 2, rows / 2, 8, 1}), 1, 0.5);
}

// The gradients of PEP: with a = 1[|v| > k sigmoid(s)], d/dv = a and d/ds = -a sign(v) k
// sigmoid'(s).
TEST(Pep, HasTheGradientsOfSoftThresholds) {
  const ModelParameters table = small_table();
  PepThresholds thresholds(table, {.scale = 2, .learning_rate = 1, .first = -1, .max_steps = 1});
  const at::Tensor v = table.values.detach().clone().set_requires_grad(true);
  torch::manual_seed(1);
  const at::Tensor weights = torch::randn(v.sizes());
  const auto gradients = torch::autograd::grad({(thresholds.filtered(v) * weights).sum()},
                                               {v, thresholds.parameters().at(0)});
  const double sigmoid = 1 / (1 + std::exp(1.0));
  const at::Tensor passes = v.abs().gt(2 * sigmoid).to(at::kFloat);
  ASSERT_GT(passes.sum().item<float>(), 5);
  ASSERT_LT(passes.mean().item<float>(), 0.95);
  EXPECT_TRUE(torch::allclose(gradients[0], passes * weights));
  EXPECT_TRUE(
      torch::allclose(gradients[1], -passes * v.sign() * (2 * sigmoid * (1 - sigmoid)) * weights));
  EXPECT_TRUE(
      torch::allclose(thresholds.filtered(v), v.sign() * torch::relu(v.abs() - 2 * sigmoid)));
}

// Without any gradient of the loss s rises all the same, by nearly the learning rate a step: what
// drives PEP is the coupled L2 term, which Adam normalises.
TEST(Pep, ThresholdsRiseByTheLearningRateWithoutALoss) {
  const ModelParameters table = small_table();
  PepThresholds thresholds(
      table, {.scale = 1, .learning_rate = 0.1, .max_steps = 50, .adam = {0.5F, 0.8F}});
  const at::Tensor nothing = torch::zeros_like(table.values);
  const at::Tensor loss = torch::zeros({1});
  double before = -15;
  for (int step = 0; step < 50; ++step) {
    thresholds.update(std::vector<at::Tensor>{nothing}, loss);
    const at::Tensor s = thresholds.parameters().at(0).detach();
    const auto now = s.mean().item<double>();
    EXPECT_GT(now - before, 0.095);
    EXPECT_LT(now - before, 0.101);
    EXPECT_FLOAT_EQ(s.min().item<float>(), s.max().item<float>());
    before = now;
  }
}

// The stated rate: thresholds are at the median of the pretrained values at about best_length, and
// from there prune until the budget is met; pruned values never come back.
TEST(Pep, PrunesAtTheStatedRateAndForGood) {
  MethodCase toy("pep");
  toy.fit.schedule.max_steps = 200;
  Pretrained full = toy.input(1).pretrained();
  full.best_length = 100;  // toy data is learnt in a few, which would be too large steps for s
  const auto median = full.table.values.slice(1, 0, 16).abs().median().item<double>();
  TableShape shape = toy.shape;
  shape.masks = false;
  const SizePlan plan = full_plan(shape);
  Schedule schedule = toy.fit.schedule;
  schedule.max_steps = 2 * full.best_length;
  ModelInTraining model(toy.graph, std::span(&plan, 1), toy.fit.model, schedule);
  auto options = pep_options(full, toy.fit.schedule);
  options.adam = schedule.adam;
  PepThresholds thresholds(model.table(), options);
  model.use(thresholds);
  std::vector<double> kept;
  at::Tensor pruned = torch::zeros_like(model.table().values, at::kBool);
  double at_best_length = 0;
  while (model.num_steps() < schedule.max_steps) {
    model.step();
    const at::Tensor zero = thresholds.filtered(model.table().values).eq(0);
    kept.push_back(1 - zero.to(at::kFloat).mean().item<double>());
    if (model.num_steps() % 20 == 0) {
      // Adam's momentum may carry a value over its threshold once more, but hardly any.
      const double back = (pruned & ~zero).to(at::kFloat).mean().item<double>();
      EXPECT_LT(back, 0.02) << model.num_steps();
      pruned = zero;
    }
    if (model.num_steps() == full.best_length) {
      at_best_length = thresholds.thresholds().mean().item<double>();
    }
  }
  EXPECT_GT(kept.front(), 0.95);
  EXPECT_LT(kept.back(), 0.7);
  EXPECT_LT(kept.back(), kept[full.best_length / 2]);
  EXPECT_GT(at_best_length, median / 3);
  EXPECT_LT(at_best_length, median * 1.5);
}

TEST(Pep, SpendsTheBudgetExactlyWithEveryBackbone) {
  for (const BackboneKind* backbone : backbones()) {
    const MethodCase toy("pep", std::string(backbone->name), 8);
    const std::uint64_t params = toy.shape.full_params() / 7;
    const Proposal proposal = toy.propose("pep", params);
    ASSERT_EQ(proposal.plans.size(), 1U);
    EXPECT_EQ(proposal.plans[0].num_params(), params / toy.shape.tables * toy.shape.tables);
    EXPECT_GT(proposal.steps, 0U);
  }
}

// Values that are kept grow with their thresholds, which must outrun them: the pruning itself comes
// down to a hundredth of the values, before its last step.
TEST(Pep, PrunesUntilASmallBudgetIsMet) {
  for (const char* backbone : {"lightgcn", "mf"}) {
    MethodCase toy("pep", backbone);
    Pretrained full = toy.input(1).pretrained();
    full.best_length = 100;
    toy.pretrained = [&] { return full; };
    const Proposal proposal = toy.propose("pep", toy.shape.full_params() / 100);
    EXPECT_GT(proposal.steps, 100U) << backbone;
    EXPECT_LT(proposal.steps, 200U) << backbone;
  }
}

TEST(Pep, ResumesToTheSamePlan) {
  const std::uint64_t params = 500;
  const MethodCase whole("pep");
  const SizePlan expected = whole.propose("pep", params).plans.at(0);
  MethodCase broken("pep");
  broken.hooks.save_seconds = 0;
  int steps = 0;
  broken.hooks.stop = [&]() -> bool {
    if (++steps > 5) throw std::runtime_error("killed");
    return false;
  };
  EXPECT_THROW(broken.propose("pep", params), std::runtime_error);
  broken.hooks.stop = nullptr;
  const Proposal resumed = broken.propose("pep", params);
  EXPECT_GT(resumed.steps, 5U);
  EXPECT_TRUE(resumed.plans.at(0) == expected);
  broken.identity = "another";
  EXPECT_THROW(broken.propose("pep", params), Error);
}

// Stopped by the user: the plan of the values as they stand, and the same again on resume.
TEST(Pep, StoppedStillKeepsTheBudget) {
  MethodCase toy("pep");
  int steps = 0;
  toy.hooks.stop = [&] { return ++steps > 3; };
  const Proposal first = toy.propose("pep", 300);
  EXPECT_TRUE(first.stopped);
  EXPECT_EQ(first.plans.at(0).num_params(), 300U);
  toy.hooks.stop = nullptr;
  const Proposal again = toy.propose("pep", 300);
  EXPECT_TRUE(again.stopped);
  EXPECT_TRUE(again.plans.at(0) == first.plans.at(0));
}

}  // namespace
}  // namespace bet
