#include "model/masked_table.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>

#include "base/random.h"
#include "kernels/kernels.h"

namespace bet {
namespace {

// Columns 2i and 2i+1 of a row: Box and Muller's pair.
void draw_row(float* row, std::uint32_t size, std::uint32_t index, std::array<std::uint32_t, 2> key,
              double deviation) {
  for (std::uint32_t column = 0; column < size; column += 2) {
    const auto words = philox4x32({column / 2, index, 0, 0}, key);
    const double radius =
        deviation * std::sqrt(-2.0 * std::log((static_cast<double>(words[0]) + 0.5) * 0x1p-32));
    const double angle = 2.0 * std::numbers::pi * (static_cast<double>(words[1]) + 0.5) * 0x1p-32;
    row[column] = static_cast<float>(radius * std::cos(angle));
    if (column + 1 < size) row[column + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

}  // namespace

MaskedTable make_table(const SizePlan& plan, std::uint64_t seed, double deviation) {
  MaskedTable table;
  table.width = plan.largest_size();
  const auto num_rows = static_cast<std::int64_t>(plan.shape().num_rows());
  const std::int64_t stride = row_stride(table.width);
  table.values = at::zeros({num_rows, stride}, at::kFloat);
  table.sizes = at::empty({num_rows}, at::kShort);
  auto* sizes = table.sizes.data_ptr<std::int16_t>();
  for (const std::uint16_t size : plan.user_sizes()) *sizes++ = static_cast<std::int16_t>(size);
  for (const std::uint16_t size : plan.item_sizes()) *sizes++ = static_cast<std::int16_t>(size);
  sizes = table.sizes.data_ptr<std::int16_t>();
  auto* values = table.values.data_ptr<float>();
  const auto key = stream_key(seed, "init");
  constexpr std::int64_t kGrain = 512;
  at::parallel_for(0, num_rows, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      draw_row(values + row * stride, static_cast<std::uint32_t>(sizes[row]),
               static_cast<std::uint32_t>(row), key, deviation);
    }
  });
  table.values.set_requires_grad(true);
  return table;
}

}  // namespace bet
