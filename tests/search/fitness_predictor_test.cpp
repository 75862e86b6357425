#include "search/fitness_predictor.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "plan/plan_sampler.h"
#include "search/mlp.h"
#include "support/toy_data.h"

namespace bet {
namespace {

struct Toy {
  Split split = test::toy_split(200, 150, 3000);
  TableShape shape{split.num_users(), split.num_items(), 32, 1};
  Frequencies frequencies = train_frequencies(split);
  PlanSampler sampler{shape, shape.num_rows() * 6, frequencies.users, frequencies.items};

  std::vector<SampledPlan> plans(std::size_t count) const {
    std::vector<SampledPlan> drawn;
    for (std::size_t i = 0; i < count; ++i) drawn.push_back(sampler.draw(3, i));
    return drawn;
  }
};

std::vector<const SizePlan*> pointers(const std::vector<SampledPlan>& plans) {
  std::vector<const SizePlan*> result;
  for (const SampledPlan& plan : plans) result.push_back(&plan.plan);
  return result;
}

// METHOD section 4, row by row and set by set, with the predictor's own weights.
torch::Tensor naive_score(const Toy& toy, const torch::Tensor& params, const SizePlan& plan) {
  const MlpShape encoder = {1, 16, 16};
  const MlpShape size_encoder = {17, 64, 64};
  const MlpShape decoder = {64, 64, 1};
  const std::int64_t first = encoder.num_params();
  const torch::Tensor user_encoder = params.slice(0, 0, first);
  const torch::Tensor item_encoder = params.slice(0, first, 2 * first);
  const torch::Tensor mu = params.slice(0, 2 * first, 2 * first + size_encoder.num_params());
  const torch::Tensor pi =
      params.slice(0, 2 * first + size_encoder.num_params(),
                   2 * first + size_encoder.num_params() + decoder.num_params());
  const auto largest = [](const std::vector<std::uint32_t>& f) {
    return static_cast<double>(*std::max_element(f.begin(), f.end()));
  };
  std::vector<torch::Tensor> sets;
  for (std::uint32_t d = 1; d <= toy.shape.max_dim; ++d) {
    torch::Tensor sum = torch::zeros({1, 16}, torch::kDouble);
    int count = 0;
    const auto add = [&](std::span<const std::uint16_t> sizes, const std::vector<std::uint32_t>& f,
                         const torch::Tensor& weights) {
      for (std::size_t row = 0; row < sizes.size(); ++row) {
        if (sizes[row] != d) continue;
        sum = sum + mlp(encoder, weights, torch::full({1, 1}, f[row] / largest(f), torch::kDouble));
        ++count;
      }
    };
    add(plan.user_sizes(), toy.frequencies.users, user_encoder);
    add(plan.item_sizes(), toy.frequencies.items, item_encoder);
    const torch::Tensor mean = count > 0 ? sum / count : sum;
    const torch::Tensor size =
        torch::full({1, 1}, static_cast<double>(d) / toy.shape.max_dim, torch::kDouble);
    sets.push_back(mlp(size_encoder, mu, torch::cat({mean, size}, 1)));
  }
  const torch::Tensor h = torch::cat(sets).mean(0, true);
  return mlp_output(decoder, pi, mlp_hidden(decoder, pi, h)).sum();
}

TEST(DeepSetsPredictor, EqualsTheNaiveForm) {
  const Toy toy;
  const auto plans = toy.plans(5);
  const auto predictor = make_deepsets_predictor(toy.shape, toy.frequencies, 1);
  const torch::Tensor scores = predictor->predict(pointers(plans)).scores;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_NEAR(scores[static_cast<std::int64_t>(i)].item<double>(),
                naive_score(toy, predictor->state(), plans[i].plan).item<double>(), 1e-9);
  }
  EXPECT_GT(scores.std().item<double>(), 1e-6) << "plans look different";
}

// One update against LibTorch's Adam on the naive form.
TEST(DeepSetsPredictor, LearnsAsLibTorchsAdamOnTheNaiveForm) {
  const Toy toy;
  const auto plans = toy.plans(3);
  const auto predictor = make_deepsets_predictor(toy.shape, toy.frequencies, 1);
  const std::int64_t count = (predictor->state().numel() - 1) / 3;
  torch::Tensor params = predictor->state().slice(0, 0, count).clone().requires_grad_(true);
  torch::optim::Adam adam({params}, torch::optim::AdamOptions(0.01));
  double rate = 0.01;
  for (int i = 0; i < 3; ++i) {
    const SizePlan& plan = plans[static_cast<std::size_t>(i)].plan;
    static_cast<torch::optim::AdamOptions&>(adam.param_groups()[0].options()).lr(rate);
    adam.zero_grad();
    const torch::Tensor error = (naive_score(toy, params, plan) - 0.7).square();
    error.backward();
    adam.step();
    EXPECT_NEAR(predictor->update(plan, 0.7), error.item<double>(), 1e-9);
    rate = std::max(rate * 0.9, 0.002);
  }
  EXPECT_LT((predictor->state().slice(0, 0, count) - params).abs().max().item<double>(), 1e-7);
}

TEST(FitnessPredictor, BothKindsLearnWhatDecidesAndGoOnFromTheirState) {
  const Toy toy;
  const auto plans = toy.plans(40);
  for (const bool deep : {true, false}) {
    const auto make = [&] {
      return deep ? make_deepsets_predictor(toy.shape, toy.frequencies, 1)
                  : make_simple_predictor(toy.shape, 1);
    };
    const auto predictor = make();
    const auto target = [](const SampledPlan& plan) { return 0.3 + 0.5 * plan.origin.user_share; };
    for (int i = 0; i < 600; ++i) {
      const SampledPlan& plan = plans[static_cast<std::size_t>(i) % 20];  // half of them
      predictor->update(plan.plan, target(plan));
    }
    const torch::Tensor scores = predictor->predict(pointers(plans)).scores;
    int right = 0;
    int pairs = 0;
    for (std::size_t a = 20; a < 40; ++a) {
      for (std::size_t b = 20; b < a; ++b, ++pairs) {
        const bool higher = scores[static_cast<std::int64_t>(a)].item<double>() >
                            scores[static_cast<std::int64_t>(b)].item<double>();
        right += higher == (target(plans[a]) > target(plans[b]));
      }
    }
    EXPECT_GT(right, pairs * 3 / 4) << (deep ? "deepsets" : "simple");

    const auto other = make();
    other->restore(predictor->state());
    EXPECT_TRUE(torch::equal(other->predict(pointers(plans)).scores, scores));
    EXPECT_EQ(other->update(plans[0].plan, 0.1), predictor->update(plans[0].plan, 0.1));
    EXPECT_TRUE(torch::equal(other->state(), predictor->state()));
  }
  const auto simple = make_simple_predictor(toy.shape, 1);
  EXPECT_THROW(simple->restore(torch::zeros({5}, torch::kDouble)), Error);
}

}  // namespace
}  // namespace bet
