#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include "search/fitness_predictor.h"
#include "search/mlp.h"

namespace bet {
namespace {

class SimplePredictor final : public FitnessPredictor {
 public:
  SimplePredictor(const TableShape& shape, std::uint64_t seed)
      : FitnessPredictor(draw_params(shape, seed)), shape_(shape) {}

 private:
  static MlpShape first_layers(const TableShape& shape) {
    return {static_cast<std::int64_t>(shape.num_rows()), 64, 64};
  }
  static constexpr std::int64_t kLast = 64 + 1;  // weights and bias of the output

  static std::vector<double> draw_params(const TableShape& shape, std::uint64_t seed) {
    RandomStream random(seed, "predictor");
    std::vector<double> params;
    draw_mlp(first_layers(shape), random, params);
    for (std::int64_t i = 0; i < kLast; ++i) params.push_back((2 * random.uniform() - 1) / 8);
    return params;
  }

  Prediction forward(const at::Tensor& params,
                     std::span<const SizePlan* const> plans) const override {
    const auto num_rows = static_cast<std::int64_t>(shape_.num_rows());
    const at::Tensor sizes =
        at::empty({static_cast<std::int64_t>(plans.size()), num_rows}, at::kDouble);
    double* next = sizes.data_ptr<double>();
    for (const SizePlan* plan : plans) {
      for (const std::uint16_t size : plan->user_sizes()) *next++ = size;
      for (const std::uint16_t size : plan->item_sizes()) *next++ = size;
    }
    const MlpShape shape = first_layers(shape_);
    const std::int64_t count = shape.num_params();
    const at::Tensor embeddings =
        mlp(shape, params.slice(0, 0, count), sizes / static_cast<double>(shape_.max_dim));
    const at::Tensor weight = params.slice(0, count, count + shape.out);
    return {embeddings.matmul(weight) + params[count + shape.out], embeddings};
  }

  TableShape shape_;
};

}  // namespace

std::unique_ptr<FitnessPredictor> make_simple_predictor(const TableShape& shape,
                                                        std::uint64_t seed) {
  return std::make_unique<SimplePredictor>(shape, seed);
}

}  // namespace bet
