#include "search/fitness_predictor.h"
#include "search/mlp.h"

namespace bet {
namespace {

class SimplePredictor final : public FitnessPredictor {
 public:
  SimplePredictor(const TableShape& shape, std::uint64_t seed)
      : SimplePredictor(shape, Mlp({{shape.num_rows(), 64}, {64, 64}, {64, 1, false}}), seed) {}

 private:
  SimplePredictor(const TableShape& shape, Mlp mlp, std::uint64_t seed)
      : FitnessPredictor(draw_params(mlp, seed)), max_dim_(shape.max_dim), mlp_(std::move(mlp)) {}

  static std::vector<double> draw_params(const Mlp& mlp, std::uint64_t seed) {
    RandomStream random(seed, "predictor");
    std::vector<double> params;
    mlp.draw(random, params);
    return params;
  }

  Prediction forward(std::span<const double> params, std::span<const SizePlan* const> plans,
                     const Supervision* supervision) const override {
    std::vector<double> sizes;
    for (const SizePlan* plan : plans) {
      for (const std::uint16_t size : plan->user_sizes()) sizes.push_back(size / max_dim_);
      for (const std::uint16_t size : plan->item_sizes()) sizes.push_back(size / max_dim_);
    }
    const Mlp::Pass pass = mlp_.forward(params, std::move(sizes));
    if (supervision != nullptr) {
      mlp_.backward(params, pass, score_gradient(pass.output(), supervision->targets),
                    supervision->gradient, Mlp::InputGradient::kNo);
    }
    return {pass.output(), pass.values[2]};
  }

  double max_dim_;
  Mlp mlp_;
};

}  // namespace

std::unique_ptr<FitnessPredictor> make_simple_predictor(const TableShape& shape,
                                                        std::uint64_t seed) {
  return std::make_unique<SimplePredictor>(shape, seed);
}

}  // namespace bet
