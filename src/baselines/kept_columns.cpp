#include "baselines/kept_columns.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace bet {

SizePlan keep_highest(const at::Tensor& scores, const TableShape& shape, std::uint64_t params) {
  const auto num_columns = shape.total_size(shape.max_dim);
  BET_CHECK(scores.numel() == static_cast<std::int64_t>(num_columns) &&
                num_columns <= std::numeric_limits<std::uint32_t>::max(),
            "scores of ", scores.numel(), " columns for a table of ", num_columns);
  const at::Tensor here = scores.to(at::kCPU, at::kFloat).contiguous();
  const float* const score = here.data_ptr<float>();
  const std::uint64_t count = std::min(params / shape.tables, num_columns);
  std::vector<std::uint32_t> order(num_columns);
  std::iota(order.begin(), order.end(), 0U);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(order.begin(), end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return score[a] != score[b] ? score[a] > score[b] : a < b;
  });
  std::vector<std::uint8_t> mask(num_columns, 0);
  std::for_each(order.begin(), end, [&](std::uint32_t column) { mask[column] = 1; });
  return SizePlan::masked(shape, std::move(mask));
}

at::Tensor magnitudes(const at::Tensor& values, const TableShape& shape) {
  const std::int64_t tables = shape.tables;
  const at::Tensor used = values.slice(1, 0, shape.max_dim * tables).abs();
  return used.reshape({used.size(0), std::int64_t{shape.max_dim}, tables}).amax(2);
}

}  // namespace bet
