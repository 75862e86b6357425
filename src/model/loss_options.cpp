#include "model/loss_options.h"

#include <cstdio>

namespace bet {

std::string loss_text(const LossOptions& loss) {
  std::string text = "bpr";
  if (loss.kind == LossKind::kSoftmax) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.3g", loss.temperature);
    text = std::string("softmax, temperature ") + number;
  }
  return text + (loss.score == ScoreKind::kCosine ? ", of cosines" : "");
}

}  // namespace bet
