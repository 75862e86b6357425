#include "train/temperature.h"

#include <algorithm>
#include <cmath>

#include "train/loss_choice.h"

namespace bet {
namespace {

const LossTrial& best_of(std::span<const LossTrial> tried) {
  return *std::ranges::max_element(tried, {}, &LossTrial::score);
}

// The one like `best` with `factor` times its temperature; null if it was not tried.
const LossTrial* neighbour(std::span<const LossTrial> tried, const LossTrial& best, double factor) {
  constexpr double kRounding = 1e-6;
  const double wanted = factor * best.loss.temperature;
  const auto found = std::ranges::find_if(tried, [&](const LossTrial& trial) {
    return are_alike(trial.loss, best.loss) &&
           std::abs(trial.loss.temperature - wanted) < kRounding * wanted;
  });
  return found == tried.end() ? nullptr : &*found;
}

}  // namespace

std::optional<double> next_temperature(std::span<const LossTrial> tried) {
  const LossTrial& best = best_of(tried);
  if (!has_temperature(best.loss)) return std::nullopt;
  for (const double factor : {2.0, 0.5}) {
    if (neighbour(tried, best, factor) == nullptr) return factor * best.loss.temperature;
  }
  return std::nullopt;
}

double best_temperature(std::span<const LossTrial> tried) {
  const LossTrial& best = best_of(tried);
  const LossTrial* const lower = neighbour(tried, best, 0.5);
  const LossTrial* const higher = neighbour(tried, best, 2);
  if (lower == nullptr || higher == nullptr) return best.loss.temperature;
  const double curvature = lower->score - 2 * best.score + higher->score;
  if (curvature >= 0) return best.loss.temperature;  // all three are equal
  const double octaves = (lower->score - higher->score) / (2 * curvature);
  return best.loss.temperature * std::exp2(octaves);
}

}  // namespace bet
