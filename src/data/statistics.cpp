#include "data/statistics.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bet {
namespace {

CountSummary summarise(std::vector<std::uint64_t> counts) {
  if (counts.empty()) return {};
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>((counts.size() - 1) / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  const std::uint64_t median = *middle;
  const auto [min, max] = std::minmax_element(counts.begin(), counts.end());
  return {*min, median, *max};
}

}  // namespace

DatasetStatistics describe(const Dataset& dataset) {
  std::vector<std::uint64_t> per_user;
  std::vector<std::uint64_t> per_item(dataset.num_items(), 0);
  for (UserId user = 0; user < dataset.num_users(); ++user) {
    per_user.push_back(dataset.interactions.row(user).size());
    for (const ItemId item : dataset.interactions.row(user)) ++per_item[item];
  }
  DatasetStatistics statistics;
  statistics.density = static_cast<double>(dataset.num_interactions()) /
                       (static_cast<double>(dataset.num_users()) * dataset.num_items());
  statistics.per_user = summarise(std::move(per_user));
  statistics.per_item = summarise(std::move(per_item));
  return statistics;
}

}  // namespace bet
