#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "data/split.h"
#include "plan/size_plan.h"

namespace bet {

// A plan and its measured fitness.
struct MeasuredPlan {
  const SizePlan* plan = nullptr;
  double fitness = 0;
};

// Predicts the fitness of a plan from the plans measured so far (F in the BET paper, Section 3.3).
// Trained by Adam with learning rate max(0.01 * 0.9^updates, 0.002). Runs on the CPU in double
// precision; one thread at a time.
class FitnessPredictor {
 public:
  virtual ~FitnessPredictor() = default;

  struct Prediction {
    std::vector<double> scores;      // [plans]: fitness
    std::vector<double> embeddings;  // [plans, dimensions]: h_a in Eq. 9
  };
  Prediction predict(std::span<const SizePlan* const> plans) const;

  // Makes `steps` updates (Eq. 11), each on a member drawn at random, and returns their mean
  // squared error, each before its update. An empty population changes nothing.
  double learn(std::span<const MeasuredPlan> population, std::uint32_t steps, RandomStream& random);

  // Weights, moments and the number of updates. restore() throws if the size does not fit.
  std::vector<double> state() const;
  void restore(std::span<const double> state);

 protected:
  explicit FitnessPredictor(std::vector<double> params);

  struct Supervision {
    std::span<const double> targets;  // the fitness of each plan
    std::span<double>
        gradient;  // the gradient of the mean squared error by `params` is added to it
  };
  // Predicts with the weights `params`, and adds their gradient unless `supervision` is null.
  virtual Prediction forward(std::span<const double> params, std::span<const SizePlan* const> plans,
                             const Supervision* supervision) const = 0;

  // The gradient of the mean squared error by each score.
  static std::vector<double> score_gradient(std::span<const double> scores,
                                            std::span<const double> targets);

 private:
  double update(const MeasuredPlan& member);

  std::vector<double> params_;
  std::vector<double> moment1_;
  std::vector<double> moment2_;
  std::vector<double> gradient_;
  std::int64_t num_updates_ = 0;
};

// DeepSets over the sets of rows of equal size (Eq. 7 to 10).
//
// Plans must give larger sizes to more frequent rows, as the sampler's do: then each set is a range
// of the ranked users and a range of the ranked items, and its sum a difference of prefix sums.
// Rows of equal frequency have equal codes, so each frequency is encoded once.
std::unique_ptr<FitnessPredictor> make_deepsets_predictor(const Frequencies& frequencies,
                                                          std::uint64_t seed);

// The "simple" ablation of the BET paper (Section 4.5): all sizes divided by max_dim, by row, as
// the input of one multilayer perceptron.
std::unique_ptr<FitnessPredictor> make_simple_predictor(const TableShape& shape,
                                                        std::uint64_t seed);

}  // namespace bet
