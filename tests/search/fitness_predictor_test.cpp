#include "search/fitness_predictor.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

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

// LibTorch's form of a perceptron of two layers.
struct TorchMlp {
  std::int64_t in, hidden, out;
  torch::Tensor params;

  torch::Tensor operator()(const torch::Tensor& x, bool leaky) const {
    std::int64_t first = 0;
    const auto next = [&](std::int64_t count) {
      first += count;
      return params.slice(0, first - count, first);
    };
    const torch::Tensor weight1 = next(in * hidden).view({in, hidden});
    const torch::Tensor bias1 = next(hidden);
    const torch::Tensor weight2 = next(hidden * out).view({hidden, out});
    const torch::Tensor bias2 = next(out);
    const torch::Tensor y =
        torch::leaky_relu(x.matmul(weight1) + bias1, 0.01).matmul(weight2) + bias2;
    return leaky ? torch::leaky_relu(y, 0.01) : y;
  }
};

torch::Tensor tensor_of(const std::vector<double>& values) {
  return torch::tensor(values, torch::kDouble);
}

// The predictor's formula, row by row and set by set, with its own weights.
torch::Tensor naive_score(const Toy& toy, const torch::Tensor& params, const SizePlan& plan) {
  std::int64_t first = 0;
  const auto next = [&](std::int64_t in, std::int64_t hidden, std::int64_t out) {
    const std::int64_t count = (in + 1) * hidden + (hidden + 1) * out;
    first += count;
    return TorchMlp{in, hidden, out, params.slice(0, first - count, first)};
  };
  const TorchMlp user_encoder = next(1, 16, 16);
  const TorchMlp item_encoder = next(1, 16, 16);
  const TorchMlp size_encoder = next(17, 64, 64);
  const TorchMlp decoder = next(64, 64, 1);
  torch::Tensor h = torch::zeros({1, 64}, torch::kDouble);
  for (std::uint32_t d = 1; d <= toy.shape.max_dim; ++d) {
    torch::Tensor sum = torch::zeros({1, 16}, torch::kDouble);
    int count = 0;
    const auto add_side = [&](std::span<const std::uint16_t> sizes,
                              const std::vector<std::uint32_t>& f, const TorchMlp& encoder) {
      const double largest = *std::max_element(f.begin(), f.end());
      for (std::size_t row = 0; row < sizes.size(); ++row) {
        if (sizes[row] != d) continue;
        sum = sum + encoder(torch::full({1, 1}, f[row] / largest, torch::kDouble), true);
        ++count;
      }
    };
    add_side(plan.user_sizes(), toy.frequencies.users, user_encoder);
    add_side(plan.item_sizes(), toy.frequencies.items, item_encoder);
    const double size = static_cast<double>(d) / toy.shape.max_dim;
    const torch::Tensor mean = count > 0 ? sum / count : sum;
    const torch::Tensor set = torch::cat({mean, torch::full({1, 1}, size, torch::kDouble)}, 1);
    h = h + size_encoder(set, true) / static_cast<double>(toy.shape.max_dim);
  }
  return decoder(h, false).sum();
}

TEST(DeepSetsPredictor, EqualsTheNaiveForm) {
  const Toy toy;
  const auto plans = toy.plans(5);
  const auto predictor = make_deepsets_predictor(toy.frequencies, 1);
  const std::vector<double> scores = predictor->predict(pointers(plans)).scores;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_NEAR(scores[i],
                naive_score(toy, tensor_of(predictor->state()), plans[i].plan).item<double>(),
                1e-9);
  }
  EXPECT_GT(tensor_of(scores).std().item<double>(), 1e-6) << "plans look different";
}

// Learning against LibTorch's Adam on the naive form, with the same members.
TEST(DeepSetsPredictor, LearnsAsLibTorchsAdamOnTheNaiveForm) {
  const Toy toy;
  const auto plans = toy.plans(3);
  const std::vector<double> fitness = {0.4, 0.5, 0.9};
  std::vector<MeasuredPlan> population;
  for (std::size_t i = 0; i < 3; ++i) population.push_back({&plans[i].plan, fitness[i]});

  const auto predictor = make_deepsets_predictor(toy.frequencies, 1);
  const auto count = static_cast<std::int64_t>((predictor->state().size() - 1) / 3);
  torch::Tensor params = tensor_of(predictor->state()).slice(0, 0, count).clone();
  params.requires_grad_(true);
  torch::optim::Adam adam({params}, torch::optim::AdamOptions(0.01));
  double rate = 0.01;
  double errors = 0;
  RandomStream members(5, "members");
  for (int step = 0; step < 3; ++step) {
    static_cast<torch::optim::AdamOptions&>(adam.param_groups()[0].options()).lr(rate);
    adam.zero_grad();
    const std::uint32_t member = members.below(3);
    const torch::Tensor error =
        (naive_score(toy, params, plans[member].plan) - fitness[member]).square();
    error.backward();
    adam.step();
    errors += error.item<double>() / 3;
    rate = std::max(rate * 0.9, 0.002);
  }
  RandomStream random(5, "members");
  EXPECT_NEAR(predictor->learn(population, 3, random), errors, 1e-9);
  const torch::Tensor learnt = tensor_of(predictor->state()).slice(0, 0, count);
  EXPECT_LT((learnt - params).abs().max().item<double>(), 1e-7);
  const SizePlan* const one = &plans[0].plan;
  EXPECT_NEAR(predictor->predict(std::span(&one, 1)).scores[0],
              naive_score(toy, params, plans[0].plan).item<double>(), 1e-7);
}

// The gradient of a perceptron of three layers against autograd's.
TEST(Mlp, HasLibTorchsOutputAndGradient) {
  const Mlp mlp({{5, 7}, {7, 6}, {6, 2, false}});
  RandomStream random(1, "mlp");
  std::vector<double> params;
  mlp.draw(random, params);
  ASSERT_EQ(params.size(), mlp.num_params());
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({4, 5}, torch::kDouble).requires_grad_(true);
  const torch::Tensor weights = tensor_of(params).requires_grad_(true);
  torch::Tensor y = x;
  std::int64_t first = 0;
  const std::vector<std::int64_t> widths = {5, 7, 6, 2};
  for (std::size_t l = 0; l < 3; ++l) {
    const std::int64_t in = widths[l];
    const std::int64_t out = widths[l + 1];
    y = y.matmul(weights.slice(0, first, first + in * out).view({in, out})) +
        weights.slice(0, first + in * out, first + in * out + out);
    if (l < 2) y = torch::leaky_relu(y, 0.01);
    first += (in + 1) * out;
  }
  const torch::Tensor by_y = torch::randn({4, 2}, torch::kDouble);
  y.backward(by_y);

  const auto values_of = [](const torch::Tensor& tensor) {
    return std::vector<double>(tensor.data_ptr<double>(),
                               tensor.data_ptr<double>() + tensor.numel());
  };
  const Mlp::Pass pass = mlp.forward(params, values_of(x.detach()));
  EXPECT_LT((tensor_of(pass.output()).view({4, 2}) - y).abs().max().item<double>(), 1e-12);
  std::vector<double> gradient(params.size());
  const std::vector<double> by_x =
      mlp.backward(params, pass, values_of(by_y), gradient, Mlp::InputGradient::kYes);
  EXPECT_LT((tensor_of(gradient) - weights.grad()).abs().max().item<double>(), 1e-12);
  EXPECT_LT((tensor_of(by_x).view({4, 5}) - x.grad()).abs().max().item<double>(), 1e-12);
}

TEST(FitnessPredictor, BothKindsLearnWhatDecidesAndGoOnFromTheirState) {
  const Toy toy;
  const auto plans = toy.plans(40);
  for (const bool deep : {true, false}) {
    const auto make = [&] {
      return deep ? make_deepsets_predictor(toy.frequencies, 1)
                  : make_simple_predictor(toy.shape, 1);
    };
    const auto predictor = make();
    const auto target = [](const SampledPlan& plan) { return 0.3 + 0.5 * plan.origin.user_share; };
    std::vector<MeasuredPlan> half;
    for (std::size_t i = 0; i < 20; ++i) half.push_back({&plans[i].plan, target(plans[i])});
    RandomStream random(1, "members");
    predictor->learn(half, 2000, random);
    const std::vector<double> scores = predictor->predict(pointers(plans)).scores;
    int right = 0;
    int pairs = 0;
    for (std::size_t a = 20; a < 40; ++a) {
      for (std::size_t b = 20; b < a; ++b, ++pairs) {
        right += (scores[a] > scores[b]) == (target(plans[a]) > target(plans[b]));
      }
    }
    EXPECT_GT(right, pairs * 3 / 4) << (deep ? "deepsets" : "simple");

    const auto other = make();
    other->restore(predictor->state());
    EXPECT_EQ(other->predict(pointers(plans)).scores, scores);
    const auto go_on = [&](FitnessPredictor& one) {
      RandomStream same(2, "members");
      return one.learn(half, 2, same);
    };
    EXPECT_EQ(go_on(*other), go_on(*predictor));
    EXPECT_EQ(other->state(), predictor->state());
  }
  const auto simple = make_simple_predictor(toy.shape, 1);
  EXPECT_THROW(simple->restore(std::vector<double>(5)), Error);
}

}  // namespace
}  // namespace bet
