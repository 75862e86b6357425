#pragma once

#include <cstdint>

#include "plan/size_plan.h"

namespace bet {

// The columns of a table that one of several ranks holds: index, index + count, index + 2 count and
// so on. Of a row's first columns a rank has the first of its own, so that a slice of a plan is a
// plan, and narrow rows are divided as evenly as wide ones.
struct ColumnSlice {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  // How many of the table's first `columns` are in the slice.
  constexpr std::uint32_t part_of(std::uint32_t columns) const {
    return columns > index ? (columns - index + count - 1) / count : 0;
  }
  // The most that any slice has of them.
  constexpr std::uint32_t largest_part_of(std::uint32_t columns) const {
    return (columns + count - 1) / count;
  }
  // The column of the table that is the slice's `own`-th.
  constexpr std::uint32_t column(std::uint32_t own) const { return own * count + index; }
};

// The sizes that are left of each row in a slice; rows narrower than the number of slices have none
// in some. Throws, naming what it is, on a plan that cannot be sliced: with a mask, of vectors,
// quantised, or of two tables, or narrower than there are slices.
SizePlan slice_of(const SizePlan& plan, const ColumnSlice& slice);

// Rows as the slices have them: by slice, then by row, largest_part_of(width) values each, of which
// the last one is not used where the slice has one less. From and to whole rows, `width` values
// each and `stride` apart.
void join_rows(const float* parts, std::size_t num_rows, std::uint32_t width,
               std::uint32_t num_slices, float* rows, std::size_t stride);
void split_rows(const float* rows, std::size_t stride, std::size_t num_rows, std::uint32_t width,
                std::uint32_t num_slices, float* parts);

}  // namespace bet
