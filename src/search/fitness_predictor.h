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

// Predicts the fitness of a plan from the plans measured so far (F in the paper). Learns by Adam,
// learning rate 0.01 * 0.9^updates and at least 0.002, on fitness in units of the population's
// spread about its mean: plans differ by a few hundredths, which is what has to be learnt. On the
// CPU, in double; one thread at a time.
class FitnessPredictor {
 public:
  virtual ~FitnessPredictor() = default;

  struct Prediction {
    std::vector<double> scores;      // [plans]: fitness
    std::vector<double> embeddings;  // [plans, dimensions]: the plans as the predictor sees them
  };
  Prediction predict(std::span<const SizePlan* const> plans) const;

  // `steps` updates, each on kBatch members drawn with replacement; returns the mean squared error
  // of those, each before its update. Nothing to learn from leaves it as it is.
  double learn(std::span<const MeasuredPlan> population, std::uint32_t steps, RandomStream& random);

  static constexpr std::uint32_t kBatch = 4;

  // Weights, moments, the number of updates and the scale of fitness, and back.
  std::vector<double> state() const;
  void restore(std::span<const double> state);

 protected:
  explicit FitnessPredictor(std::vector<double> params);

  // The mean squared error against these scores, one a plan, is what is made smaller.
  struct Lesson {
    std::span<const double> targets;
    std::span<double> gradient;  // of that error by the weights: added to
  };
  // Scores in units of the scale. Learns nothing itself; the lesson may be null.
  virtual Prediction forward(std::span<const double> params, std::span<const SizePlan* const> plans,
                             const Lesson* lesson) const = 0;

  // The error's gradient by each score.
  static std::vector<double> score_gradient(std::span<const double> scores,
                                            std::span<const double> targets);

 private:
  double update(std::span<const MeasuredPlan> batch);

  std::vector<double> params_;
  std::vector<double> moment1_;
  std::vector<double> moment2_;
  std::vector<double> gradient_;
  std::int64_t num_updates_ = 0;
  double mean_ = 0;    // of the fitness learnt from
  double spread_ = 1;  // its standard deviation
};

// DeepSets over the sets of rows that share a size (METHOD section 4), with three changes that its
// predictions need (docs/results.md has what each brings): a set counts by the rows it has, not as
// one of max_dim; its users and its items are averaged apart; frequencies and sizes enter by their
// logarithms, since most rows are small in both.
//
// Plans must give larger sizes to more frequent rows, as the sampler's do: then each set is a
// stretch of the ranked users and one of the ranked items, and its sum a difference of prefix sums.
// Rows of equal frequency look alike, so one is encoded for all.
std::unique_ptr<FitnessPredictor> make_deepsets_predictor(const Frequencies& frequencies,
                                                          std::uint64_t seed);

// The paper's ablation: all sizes over max_dim, by row, through one perceptron.
std::unique_ptr<FitnessPredictor> make_simple_predictor(const TableShape& shape,
                                                        std::uint64_t seed);

}  // namespace bet
