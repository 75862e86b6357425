#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/split.h"
#include "plan/size_plan.h"

namespace bet {

// Predicts the fitness of a plan from the plans measured so far (F in the paper). Learns by Adam,
// one measured plan an update, learning rate 0.01 * 0.9^updates and at least 0.002. On the CPU, in
// double; one thread at a time.
class FitnessPredictor {
 public:
  virtual ~FitnessPredictor() = default;

  struct Prediction {
    at::Tensor scores;      // double [plans]
    at::Tensor embeddings;  // double [plans, dimensions]: the plans as the predictor sees them
  };
  Prediction predict(std::span<const SizePlan* const> plans) const;

  // One step towards the measured fitness; returns the squared error before it.
  double update(const SizePlan& plan, double fitness);

  // Weights, moments and the number of updates in one tensor, and back.
  at::Tensor state() const;
  void restore(const at::Tensor& state);

 protected:
  explicit FitnessPredictor(const std::vector<double>& params);

  // Differentiable in `params`.
  virtual Prediction forward(const at::Tensor& params,
                             std::span<const SizePlan* const> plans) const = 0;

 private:
  at::Tensor params_;
  at::Tensor moment1_;
  at::Tensor moment2_;
  std::int64_t num_updates_ = 0;
};

// DeepSets over the sets of rows that share a size (METHOD section 4). Plans must give larger sizes
// to more frequent rows, as the sampler's do: then each set is a stretch of the ranked users and
// one of the ranked items, and its sum a difference of prefix sums. Rows of equal frequency look
// alike, so one is encoded for all.
std::unique_ptr<FitnessPredictor> make_deepsets_predictor(const TableShape& shape,
                                                          const Frequencies& frequencies,
                                                          std::uint64_t seed);

// The paper's ablation: all sizes over max_dim, by row, through one perceptron.
std::unique_ptr<FitnessPredictor> make_simple_predictor(const TableShape& shape,
                                                        std::uint64_t seed);

}  // namespace bet
