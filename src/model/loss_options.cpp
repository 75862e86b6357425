#include "model/loss_options.h"

#include <cmath>
#include <cstdio>

namespace bet {

LossOptions for_length(LossOptions loss, std::uint64_t from, std::uint64_t to) {
  if (has_temperature(loss)) {
    const double ratio = static_cast<double>(to) / static_cast<double>(from);
    loss.temperature *= loss.rate == 1 ? std::pow(ratio, 1.5) : ratio;
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
  if (loss.score == ScoreKind::kCosine) text += ", of cosines";
  if (loss.rate != 1) {
    char number[32];
    std::snprintf(number, sizeof(number), ", %.3g times the rate", loss.rate);
    text += number;
  }
  return text;
}

}  // namespace bet
