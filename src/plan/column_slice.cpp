#include "plan/column_slice.h"

#include <vector>

#include "base/error.h"
#include "base/precision_text.h"
#include "base/row_quantiser.h"

namespace bet {
namespace {

std::vector<std::uint16_t> parts_of(std::span<const std::uint16_t> sizes,
                                    const ColumnSlice& slice) {
  std::vector<std::uint16_t> parts;
  parts.reserve(sizes.size());
  for (const std::uint16_t size : sizes) {
    parts.push_back(static_cast<std::uint16_t>(slice.part_of(size)));
  }
  return parts;
}

// Calls copy(value of a part, value of a row) for all of them.
template <typename Part, typename Row, typename Copy>
void over_parts(Part* parts, std::size_t num_rows, std::uint32_t width, std::uint32_t num_slices,
                Row* rows, std::size_t stride, const Copy& copy) {
  const std::uint32_t most = ColumnSlice{0, num_slices}.largest_part_of(width);
  for (std::uint32_t index = 0; index < num_slices; ++index) {
    const ColumnSlice slice{index, num_slices};
    const std::uint32_t own = slice.part_of(width);
    for (std::size_t row = 0; row < num_rows; ++row) {
      Part* const part = parts + (index * num_rows + row) * most;
      for (std::uint32_t c = 0; c < own; ++c) copy(part[c], rows[row * stride + slice.column(c)]);
    }
  }
}

}  // namespace

SizePlan slice_of(const SizePlan& plan, const ColumnSlice& slice) {
  const TableShape& shape = plan.shape();
  BET_CHECK(shape.tables == 1, "a table of ", shape.tables,
            " embeddings a row cannot be divided by columns");
  BET_CHECK(plan.mask().empty(), "a plan with a mask cannot be divided by columns");
  BET_CHECK(plan.form() == StoredForm::kTable, "a plan of ", form_name(plan.form()),
            " cannot be divided by columns");
  BET_CHECK(!is_integer(plan.precision().users) && !is_integer(plan.precision().items),
            "rows of precision ", precision_text(plan.precision()),
            " cannot be divided by columns: a row has one scale");
  BET_CHECK(slice.index < slice.count && plan.width() >= slice.count, "a plan of ", plan.width(),
            " columns for ", slice.count, " ranks: there must be at least one for each");
  TableShape part = shape;
  part.max_dim = slice.part_of(shape.max_dim);
  part.min_dim = 0;
  return SizePlan(part, parts_of(plan.user_sizes(), slice), parts_of(plan.item_sizes(), slice))
      .with_precision(plan.precision());
}

void join_rows(const float* parts, std::size_t num_rows, std::uint32_t width,
               std::uint32_t num_slices, float* rows, std::size_t stride) {
  over_parts(parts, num_rows, width, num_slices, rows, stride,
             [](float part, float& row) { row = part; });
}

void split_rows(const float* rows, std::size_t stride, std::size_t num_rows, std::uint32_t width,
                std::uint32_t num_slices, float* parts) {
  over_parts(parts, num_rows, width, num_slices, rows, stride,
             [](float& part, float row) { part = row; });
}

}  // namespace bet
