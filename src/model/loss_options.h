#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/score_kind.h"
#include "kernels/kernels.h"

namespace bet {

// What a model is trained to make small, and how fast.
struct LossOptions {
  LossKind kind = LossKind::kBpr;
  double temperature = 1;  // of the softmax
  ScoreKind score = ScoreKind::kDot;
  double rate = 1;  // the learning rate, as a multiple of the schedule's

  bool operator==(const LossOptions&) const = default;
};

// Whether the loss is a softmax of dot products, whose best temperature depends on the plan and on
// the length of the training.
constexpr bool has_temperature(const LossOptions& loss) {
  return loss.kind == LossKind::kSoftmax && loss.score == ScoreKind::kDot;
}

// A loss that was tried, and its score on the held-out part.
struct LossTrial {
  LossOptions loss;
  double score = 0;
};

// A loss that suits trainings of `from` steps, for trainings of `to` steps: the temperature of a
// softmax of dot products is in proportion to their power of 1.5, or at another rate to themselves
// (docs/studies/loss.md).
LossOptions for_length(LossOptions loss, std::uint64_t from, std::uint64_t to);

constexpr std::string_view loss_name(LossKind kind) {
  return kind == LossKind::kSoftmax ? "softmax" : "bpr";
}

// "softmax, temperature 4.9" or "bpr", with ", of cosines" and ", 2 times the rate" where that is
// so.
std::string loss_text(const LossOptions& loss);

}  // namespace bet
