#pragma once

#include <optional>
#include <span>

#include "model/loss_options.h"

namespace bet {

// The best temperature of a softmax, from the scores of a few in steps of twice the one before
// (docs/studies/loss.md). Of `tried` those count that are alike: softmaxes of dot products at the
// rate of the best loss of all. Scores are of trainings of one plan and length.

// How many temperatures are tried at most in addition to those that a choice begins with.
inline constexpr int kMoreTemperatures = 2;

// The next one to try: half or twice that of the best, so that the best is between two others. None
// if it is, or if the best loss is not such a softmax.
std::optional<double> next_temperature(std::span<const LossTrial> tried);

// Where the parabola through the score of the best and those of its two neighbours has its top, on
// a logarithmic scale; the temperature of the best itself where it has only one neighbour.
double best_temperature(std::span<const LossTrial> tried);

}  // namespace bet
