#include "run/sizes_by_rank.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "plan/plan_sampler.h"

namespace bet {
namespace {

constexpr std::uint64_t kMostBins = 100;

RunDetails::SideSizes side_sizes(std::span<const std::uint16_t> sizes,
                                 std::span<const std::uint32_t> counts,
                                 std::span<const std::uint32_t> frequencies, Precision precision,
                                 const TableShape& shape) {
  RunDetails::SideSizes side = {{counts.begin(), counts.end()}, {}};
  const std::vector<std::uint32_t> order = frequency_order(frequencies);
  std::uint64_t done = 0;
  for (std::uint64_t bin = 1; bin <= kMostBins; ++bin) {
    const double end = std::pow(static_cast<double>(order.size()),
                                static_cast<double>(bin) / static_cast<double>(kMostBins));
    const auto last =
        bin == kMostBins ? order.size() : static_cast<std::uint64_t>(std::lround(end));
    if (last <= done) continue;
    RunDetails::RankBin one = {.first = done + 1, .last = last, .smallest = 0xffffffffU};
    for (; done < last; ++done) {
      const std::uint32_t row = order[done];
      const std::uint32_t size = sizes[row];
      one.frequency += frequencies[row];
      one.size += size;
      one.bytes += static_cast<double>(row_bytes(precision, std::uint64_t{size} * shape.tables) +
                                       (size > 0 ? shape.mask_bytes() : 0));
      one.smallest = std::min(one.smallest, size);
      one.largest = std::max(one.largest, size);
    }
    const auto rows = static_cast<double>(one.last - one.first + 1);
    one.frequency /= rows;
    one.size /= rows;
    one.bytes /= rows;
    side.by_rank.push_back(one);
  }
  return side;
}

}  // namespace

RunDetails::Sizes sizes_by_rank(const SizePlan& plan, const Frequencies& frequencies) {
  const TablePrecision& precision = plan.precision();
  return {precision,
          side_sizes(plan.user_sizes(), plan.user_counts(), frequencies.users, precision.users,
                     plan.shape()),
          side_sizes(plan.item_sizes(), plan.item_counts(), frequencies.items, precision.items,
                     plan.shape())};
}

}  // namespace bet
