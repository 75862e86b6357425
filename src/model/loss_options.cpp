#include "model/loss_options.h"

#include <cstdio>

namespace bet {

LossOptions for_length(LossOptions loss, std::uint64_t from, std::uint64_t to) {
  if (loss.kind == LossKind::kSoftmax && loss.score == ScoreKind::kDot) {
    loss.temperature *= static_cast<double>(to) / static_cast<double>(from);
  }
  return loss;
}

std::string loss_text(const LossOptions& loss) {
  std::string text(loss_name(loss.kind));
  if (loss.kind == LossKind::kSoftmax) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.3g", loss.temperature);
    text += std::string(", temperature ") + number;
  }
  return text + (loss.score == ScoreKind::kCosine ? ", of cosines" : "");
}

}  // namespace bet
