#include "train/metrics.h"

#include <cmath>

namespace bet {

double Metrics::score() const {
  double sum = 0;
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) sum += recall[i] + ndcg[i];
  return sum / (2.0 * kCutoffs.size());
}

namespace {

// 1 / log2(rank + 1), by position.
const auto kDiscount = [] {
  std::array<double, kCutoffs.back()> discount{};
  for (std::size_t position = 0; position < discount.size(); ++position) {
    discount[position] = 1.0 / std::log2(static_cast<double>(position) + 2.0);
  }
  return discount;
}();

}  // namespace

Metrics user_metrics(std::uint32_t hits, std::size_t num_held_out) {
  Metrics metrics;
  metrics.num_users = 1;
  std::uint32_t found = 0;
  double gain = 0;
  double ideal = 0;
  std::size_t cutoff = 0;
  for (std::uint32_t position = 0; position < kCutoffs.back(); ++position) {
    if (position < num_held_out) ideal += kDiscount[position];
    if ((hits >> position & 1) != 0) {
      ++found;
      gain += kDiscount[position];
    }
    if (position + 1 == kCutoffs[cutoff]) {
      metrics.recall[cutoff] = found / static_cast<double>(num_held_out);
      metrics.ndcg[cutoff] = gain / ideal;
      ++cutoff;
    }
  }
  return metrics;
}

}  // namespace bet
