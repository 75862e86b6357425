#include "train/temperature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bet {
namespace {

LossTrial softmax(double temperature, double score, double rate = 1) {
  return {{LossKind::kSoftmax, temperature, ScoreKind::kDot, rate}, score};
}

TEST(Temperature, IsTriedUntilTheBestIsBetweenTwoOthers) {
  std::vector<LossTrial> tried = {{{}, 0.1}, softmax(4, 0.2), softmax(8, 0.3), softmax(16, 0.4)};
  EXPECT_EQ(next_temperature(tried), 32);
  tried.push_back(softmax(32, 0.5));
  EXPECT_EQ(next_temperature(tried), 64);
  tried.push_back(softmax(64, 0.45));
  EXPECT_EQ(next_temperature(tried), std::nullopt);
  // At another rate it is another loss.
  tried.push_back(softmax(16, 0.6, 2));
  EXPECT_EQ(next_temperature(tried), 32);
  tried.push_back(softmax(32, 0.55, 2));
  EXPECT_EQ(next_temperature(tried), 8);
  tried.push_back(softmax(8, 0.5, 2));
  EXPECT_EQ(next_temperature(tried), std::nullopt);
}

TEST(Temperature, OfOtherLossesIsNotTried) {
  const LossTrial bpr = {{}, 0.5};
  const LossTrial cosines = {{LossKind::kSoftmax, 0.14, ScoreKind::kCosine}, 0.6};
  EXPECT_EQ(next_temperature(std::vector{softmax(4, 0.4), bpr}), std::nullopt);
  EXPECT_EQ(next_temperature(std::vector{softmax(4, 0.4), cosines, bpr}), std::nullopt);
}

TEST(Temperature, IsTheTopOfTheParabola) {
  const auto score = [](double temperature) {
    const double octaves = std::log2(temperature / 11);
    return 0.3 - 0.02 * octaves * octaves;
  };
  std::vector<LossTrial> tried = {{{}, 0.1}};
  for (const double temperature : {16.0, 4.0, 8.0}) {
    tried.push_back(softmax(temperature, score(temperature)));
  }
  EXPECT_NEAR(best_temperature(tried), 11, 1e-9);
  // The others' scores are of another loss.
  tried[1].loss.rate = 2;
  EXPECT_EQ(best_temperature(tried), 8) << "a neighbour is missing";
  const std::vector<LossTrial> equal = {softmax(4, 0.2), softmax(8, 0.2), softmax(16, 0.2)};
  EXPECT_EQ(best_temperature(equal), 4) << "the first has no neighbour below it";
  EXPECT_EQ(best_temperature(std::vector{softmax(8, 0.2), softmax(4, 0.2), softmax(16, 0.2)}), 8);
}

}  // namespace
}  // namespace bet
