#include "plan/size_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace bet {
namespace {

void check_params(const TableShape& shape, std::uint64_t params) {
  BET_CHECK(params >= shape.min_params() && params <= shape.full_params(), "a plan cannot have ",
            params, " parameters: ", shape.num_rows(), " rows take ", shape.min_params(), " to ",
            shape.full_params());
}

std::vector<std::uint16_t> to_vector(std::span<const std::uint16_t> sizes) {
  return {sizes.begin(), sizes.end()};
}

}  // namespace

SizePlan::SizePlan(const TableShape& shape, std::vector<std::uint16_t> user_sizes,
                   std::vector<std::uint16_t> item_sizes)
    : shape_(shape), user_sizes_(std::move(user_sizes)), item_sizes_(std::move(item_sizes)) {
  BET_CHECK(shape.max_dim <= std::numeric_limits<std::uint16_t>::max(), "max_dim ", shape.max_dim,
            " is too large");
  BET_CHECK(user_sizes_.size() == shape.num_users && item_sizes_.size() == shape.num_items,
            "a plan of ", user_sizes_.size(), " users and ", item_sizes_.size(),
            " items for a table of ", shape.num_users, " and ", shape.num_items);
  const auto count = [&](std::span<const std::uint16_t> sizes) {
    std::vector<std::uint32_t> counts(shape.max_dim + 1, 0);
    for (const std::uint16_t size : sizes) {
      BET_CHECK(size >= shape.min_dim && size <= shape.max_dim, "size ", size,
                " is outside the plan's range ", shape.min_dim, " to ", shape.max_dim);
      ++counts[size];
      num_params_ += std::uint64_t{size} * shape.tables;
      largest_size_ = std::max<std::uint32_t>(largest_size_, size);
    }
    return counts;
  };
  user_counts_ = count(user_sizes_);
  item_counts_ = count(item_sizes_);
  width_ = largest_size_;
}

SizePlan::SizePlan(const TableShape& shape, std::span<const std::uint16_t> sizes)
    : SizePlan(shape, to_vector(sizes.first(std::min<std::size_t>(sizes.size(), shape.num_users))),
               to_vector(sizes.subspan(std::min<std::size_t>(sizes.size(), shape.num_users)))) {}

SizePlan SizePlan::masked(const TableShape& shape, std::vector<std::uint8_t> mask) {
  BET_CHECK(shape.masks && mask.size() == shape.total_size(shape.max_dim), "a mask of ",
            mask.size(), " entries for a table of ", shape.num_rows(), " x ", shape.max_dim);
  std::vector<std::uint16_t> sizes(shape.num_rows(), 0);
  std::uint32_t width = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    BET_CHECK(mask[i] <= 1, "mask entry ", i, " is ", unsigned{mask[i]}, ", not 0 or 1");
    if (mask[i] == 0) continue;
    ++sizes[i / shape.max_dim];
    width = std::max(width, static_cast<std::uint32_t>(i % shape.max_dim) + 1);
  }
  SizePlan plan(shape, sizes);
  plan.mask_ = std::move(mask);
  plan.width_ = width;
  return plan;
}

SizePlan SizePlan::with_precision(const TablePrecision& precision) const {
  SizePlan plan = *this;
  plan.precision_ = precision;
  return plan;
}

SizePlan SizePlan::with_form(StoredForm form) const {
  BET_CHECK(form == StoredForm::kTable || mask_.empty(), "vectors have no mask");
  SizePlan plan = *this;
  plan.form_ = form;
  return plan;
}

std::uint64_t SizePlan::stored_bytes(const TablePrecision& precision) const {
  std::uint64_t bytes = shape_.directory_bytes();
  const auto add_side = [&](const std::vector<std::uint32_t>& counts, Precision side) {
    for (std::uint64_t size = 1; size < counts.size(); ++size) {
      bytes += counts[size] *
               (row_bytes(side, size * shape_.tables) + (mask_.empty() ? 0 : shape_.mask_bytes()));
    }
  };
  add_side(user_counts_, precision.users);
  add_side(item_counts_, precision.items);
  return bytes;
}

SizePlan full_plan(const TableShape& shape) { return equal_plan(shape, shape.full_params()); }

SizePlan equal_plan(const TableShape& shape, std::uint64_t params) {
  check_params(shape, params);
  const auto size = static_cast<std::uint16_t>(params / shape.tables / shape.num_rows());
  return {shape, std::vector<std::uint16_t>(shape.num_users, size),
          std::vector<std::uint16_t>(shape.num_items, size)};
}

SizePlan mixed_random_plan(const TableShape& shape, std::uint64_t params, std::uint64_t seed) {
  check_params(shape, params);
  BET_CHECK(shape.num_rows() <= std::numeric_limits<std::uint32_t>::max(), shape.num_rows(),
            " rows are too many for a mixed random plan");
  RandomStream random(seed, "mixed random plan");
  const std::uint64_t target = params / shape.tables;
  const double mean = static_cast<double>(target) / static_cast<double>(shape.num_rows());
  // Integers in [1, round(2 mean)), as the paper's authors draw them.
  const auto choices = static_cast<std::uint32_t>(std::max(std::lround(2.0 * mean) - 1, 1L));
  std::vector<std::uint16_t> sizes(shape.num_rows());
  for (std::uint16_t& size : sizes) {
    size = static_cast<std::uint16_t>(
        std::clamp(1 + random.below(choices), shape.min_dim, shape.max_dim));
  }

  const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  const bool grow = total < target;
  const std::uint32_t limit = grow ? shape.max_dim : shape.min_dim;
  std::vector<std::uint32_t> movable;  // rows that are not yet at the limit
  for (std::uint32_t row = 0; row < sizes.size(); ++row) {
    if (sizes[row] != limit) movable.push_back(row);
  }
  for (std::uint64_t left = grow ? target - total : total - target; left > 0; --left) {
    std::uint32_t& chosen = movable[random.below(static_cast<std::uint32_t>(movable.size()))];
    std::uint16_t& size = sizes[chosen];
    size = static_cast<std::uint16_t>(grow ? size + 1 : size - 1);
    if (size == limit) {
      chosen = movable.back();
      movable.pop_back();
    }
  }
  return {shape, sizes};
}

}  // namespace bet
