#include "runtime/top_items.h"

#include <algorithm>

namespace bet {

std::vector<RankedItem> top_items(std::span<const float> scores, std::size_t k,
                                  std::span<const std::uint32_t> left_out, float min_score) {
  const auto better = [](const RankedItem& a, const RankedItem& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  };
  std::vector<RankedItem> best;  // a heap with the worst in front
  k = std::min(k, scores.size());
  if (k == 0) return best;
  best.reserve(k);
  std::size_t skip = 0;
  for (std::uint32_t row = 0; row < scores.size(); ++row) {
    const float score = scores[row];
    if (best.size() == k && !(score > best.front().score)) continue;
    while (skip < left_out.size() && left_out[skip] < row) ++skip;
    if ((skip < left_out.size() && left_out[skip] == row) || !(score >= min_score)) continue;
    if (best.size() == k) {
      std::pop_heap(best.begin(), best.end(), better);
      best.pop_back();
    }
    best.push_back({row, score});
    std::push_heap(best.begin(), best.end(), better);
  }
  std::sort(best.begin(), best.end(), better);
  return best;
}

}  // namespace bet
