#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/precision.h"
#include "runtime/bytes.h"
#include "runtime/row_kernels.h"

namespace bet {

enum class RowLayout : std::uint8_t { kPrefix = 0, kMasked = 1 };

// What the rows of a side have in common.
struct RowForm {
  std::uint32_t max_columns = 0;  // sizes are 0 .. max_columns
  std::uint32_t values_per_column = 1;
  Precision precision = Precision::kFloat32;
  RowLayout layout = RowLayout::kPrefix;
};

// The table of one side as stored, rows by descending size. A view: the bytes must outlive it.
class RowSection {
 public:
  RowSection() = default;
  // Throws unless every rule of docs/format.md holds. `what` names the section.
  RowSection(Bytes bytes, std::uint32_t num_rows, const RowForm& form, std::string_view what);
  // Vectors in memory, [num_rows, width], which must outlive it.
  RowSection(std::span<const float> vectors, std::uint32_t num_rows, std::uint32_t width);

  std::uint32_t num_rows() const { return num_rows_; }
  // Rows of size 0, 1, ..
  const std::vector<std::uint32_t>& counts() const { return counts_; }
  std::uint64_t num_params() const { return num_params_; }
  // Values of a whole row: those up to the last column that any row stores.
  std::uint32_t width() const { return width_; }

  // The values, [num_rows(), columns], where they are stored as floats of one size; else empty.
  std::span<const float> plain(std::uint32_t columns) const;
  // Into the first width() of `out`, zeros included.
  void decode(std::uint32_t row, std::span<float> out) const;
  // out[r] = query . row r. The query has width() columns or more.
  void dots(std::span<const float> query, std::span<float> out) const;
  // out[i] = query . row rows[i], the same to the bit; the rows are ascending, and no others than
  // these and their neighbours are read.
  void dots(std::span<const float> query, std::span<const std::uint32_t> rows,
            std::span<float> out) const;
  // sum += weights[r] * row r
  void add(std::span<const float> weights, std::span<float> sum) const;

 private:
  struct Group {
    RowGroup rows;
    std::uint32_t first_row = 0;
    const std::byte* bitmaps = nullptr;
  };
  // Throws unless every bitmap has `size` columns. Returns one more than the last column of any.
  std::uint32_t check_bitmaps(const Group& group, std::uint32_t size, std::string_view what) const;
  RowGroup some_rows(const Group& group, std::uint32_t first_in_group, std::uint32_t count) const;
  RowGroup single_row(const Group& group, std::uint32_t row_in_group) const {
    return some_rows(group, row_in_group, 1);
  }
  // query . a row of a group, as the kernels multiply it among all rows.
  float dot(const Group& group, std::uint32_t row_in_group, const KernelQuery& query) const;
  // The positions in a whole row of the values that a row of a masked group stores.
  void stored_positions(const Group& group, std::uint32_t row_in_group,
                        std::vector<std::uint32_t>& out) const;

  RowForm form_;
  std::uint32_t num_rows_ = 0;
  std::uint32_t width_ = 0;
  std::uint64_t num_params_ = 0;
  std::vector<std::uint32_t> counts_;
  std::vector<Group> groups_;  // the rows of each size above 0
};

// The rows of one side to be written, in the order of the file.
struct RowsToStore {
  std::size_t stride = 0;                           // from one row's values to the next
  std::span<const float> values;                    // [rows, stride]
  std::vector<std::uint32_t> sizes;                 // descending
  std::vector<std::vector<std::uint32_t>> columns;  // masked layout: by row, ascending
};
std::string encode_rows(const RowsToStore& rows, const RowForm& form);

// The stored values of a row as they would be read back, the same to the bit. Takes them as they
// would be given to encode_rows: in the order of the file, without columns that are not stored, and
// never rounded before. Rounding a second time may give other values, because the scale of the
// precisions below four bits follows from the root mean square.
void round_as_stored(std::span<float> row, Precision precision);

}  // namespace bet
