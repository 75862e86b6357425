#include "plan/grown_plan.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "plan/plan_sampler.h"

namespace bet {

SizePlan grown_plan(const SizePlan& plan, std::uint64_t bytes,
                    std::span<const std::uint32_t> user_frequencies,
                    std::span<const std::uint32_t> item_frequencies) {
  BET_CHECK(plan.mask().empty(), "a plan with a mask cannot grow");
  const TableShape& shape = plan.shape();
  std::vector<std::uint16_t> sizes(plan.user_sizes().begin(), plan.user_sizes().end());
  sizes.insert(sizes.end(), plan.item_sizes().begin(), plan.item_sizes().end());
  std::vector<std::uint32_t> frequencies(user_frequencies.begin(), user_frequencies.end());
  frequencies.insert(frequencies.end(), item_frequencies.begin(), item_frequencies.end());
  BET_CHECK(frequencies.size() == sizes.size(), "frequencies of ", frequencies.size(),
            " rows for a plan of ", sizes.size());
  const std::vector<std::uint32_t> order = frequency_order(frequencies);
  for (bool grows = true; grows;) {
    grows = false;
    for (const std::uint32_t row : order) {
      const Precision precision =
          row < shape.num_users ? plan.precision().users : plan.precision().items;
      const std::uint32_t values = value_cell(precision).values;
      const std::uint32_t step = values / std::gcd(values, shape.tables);
      const std::uint32_t size = sizes[row];
      const std::uint32_t larger = std::min((size / step + 1) * step, shape.max_dim);
      if (size == 0 || larger <= size) continue;
      const std::uint64_t cost = row_bytes(precision, std::uint64_t{larger} * shape.tables) -
                                 row_bytes(precision, std::uint64_t{size} * shape.tables);
      if (cost > bytes) continue;
      bytes -= cost;
      sizes[row] = static_cast<std::uint16_t>(larger);
      grows = true;
    }
  }
  return SizePlan(shape, sizes).with_precision(plan.precision()).with_form(plan.form());
}

}  // namespace bet
