#pragma once

#include <string>

#include "base/score_kind.h"
#include "kernels/kernels.h"

namespace bet {

// What a model is trained to make small.
struct LossOptions {
  LossKind kind = LossKind::kBpr;
  double temperature = 1;  // of the softmax
  ScoreKind score = ScoreKind::kDot;

  bool operator==(const LossOptions&) const = default;
};

// "softmax, temperature 4.9" or "bpr", with ", of cosines" where that is so.
std::string loss_text(const LossOptions& loss);

}  // namespace bet
