#include "train/metrics.h"

#include <cmath>

namespace bet {

double Metrics::score() const {
  double sum = 0;
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) sum += recall[i] + ndcg[i];
  return sum / (2.0 * kCutoffs.size());
}

Metrics mean_of(std::span<const Metrics> users) {
  Metrics mean;
  for (const Metrics& one : users) {
    for (std::size_t c = 0; c < kCutoffs.size(); ++c) {
      mean.recall[c] += one.recall[c];
      mean.ndcg[c] += one.ndcg[c];
    }
    ++mean.num_users;
  }
  for (std::size_t c = 0; c < kCutoffs.size() && mean.num_users > 0; ++c) {
    mean.recall[c] /= static_cast<double>(mean.num_users);
    mean.ndcg[c] /= static_cast<double>(mean.num_users);
  }
  return mean;
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
