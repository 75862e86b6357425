#include "runtime/row_section.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/half.h"
#include "base/row_quantiser.h"
#include "runtime/packed_codes.h"

namespace bet {
namespace {

std::uint64_t bitmap_bytes(std::uint32_t columns) { return (std::uint64_t{columns} + 7) / 8; }

bool is_set(const std::byte* bitmap, std::uint32_t column) {
  return (static_cast<unsigned>(bitmap[column / 8]) >> (column % 8) & 1U) != 0;
}

// Throws if a stored number is infinite, NaN or outside the range of its precision.
void check_values(Precision precision, const RowGroup& rows, std::string_view what) {
  const std::uint64_t per_row = value_bytes(precision, rows.size);
  const std::uint64_t bytes = rows.count * per_row;
  bool good = true;
  switch (precision) {
    case Precision::kFloat32:
      for (std::uint64_t i = 0; i < bytes; i += 4) {
        good &= (load<std::uint32_t>(rows.values + i) & 0x7f800000U) != 0x7f800000U;
      }
      break;
    case Precision::kFloat16:
      for (std::uint64_t i = 0; i < bytes; i += 2) {
        good &= (load<std::uint16_t>(rows.values + i) & 0x7c00U) != 0x7c00U;
      }
      break;
    case Precision::kInt8:
      for (std::uint64_t i = 0; i < bytes; ++i) good &= rows.values[i] != std::byte{0x80};
      break;
    case Precision::kInt4:
      for (std::uint64_t i = 0; i < bytes; ++i) {
        good &= (rows.values[i] & std::byte{0x0f}) != std::byte{0} &&
                (rows.values[i] & std::byte{0xf0}) != std::byte{0};
      }
      for (std::uint64_t i = per_row; rows.size % 2 != 0 && i <= bytes; i += per_row) {
        good &= (rows.values[i - 1] & std::byte{0xf0}) == std::byte{0x80};
      }
      break;
    default:
      for (std::uint64_t i = 0; i < bytes; i += per_row) {
        good &= are_codes(rows.values + i, rows.size, precision);
      }
      BET_CHECK(good, what, ": a row of size ", rows.size, " has codes that ",
                precision_name(precision), " does not have");
      return;  // any byte is a scale
  }
  for (std::uint32_t row = 0; rows.scales != nullptr && row < rows.count; ++row) {
    good &= (load<std::uint16_t>(rows.scales + 2 * std::size_t{row}) & 0xfc00U) < 0x7c00U;
  }
  BET_CHECK(good, what, ": a value in a row of size ", rows.size, " is not a finite ",
            precision_name(precision));
}

// int8 and int4.
void append_integers(std::string& values, std::string& scales, std::span<const float> row,
                     Precision precision) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  const std::uint16_t half = float_to_half(largest / highest_level(precision));
  BET_CHECK((half & 0x7c00U) != 0x7c00U, "a row to be stored in 8 bits or fewer has the value ",
            largest);
  append(scales, half);
  // By the scale as it will be read.
  const RowScale scale = {half_to_float(half)};
  const auto quantised = [&](float value) {
    return static_cast<int>(level_of(value, precision, scale));
  };
  if (precision == Precision::kInt8) {
    for (const float value : row) values.push_back(static_cast<char>(quantised(value)));
    return;
  }
  for (std::size_t j = 0; j < row.size(); j += 2) {
    const int low = quantised(row[j]) + 8;
    const int high = j + 1 < row.size() ? quantised(row[j + 1]) + 8 : 8;
    values.push_back(static_cast<char>(low | high << 4));
  }
}

// The precisions below four bits.
void append_codes_of(std::string& values, std::string& scales, std::span<const float> row,
                     Precision precision) {
  double squares = 0;
  for (const float value : row) squares += double{value} * double{value};
  const double mean_square = squares / static_cast<double>(row.size());
  const std::uint8_t scale_code = code_of_scale(mean_square, precision);
  // The last code also stands for all larger scales.
  BET_CHECK(scale_code < 255, "a row to be stored as ", precision_name(precision),
            " has the root mean square ", std::sqrt(mean_square));
  append(scales, scale_code);
  const RowScale scale = row_scale_of_code(scale_code);
  std::vector<std::uint8_t> codes;
  for (const float value : row) {
    const int level = static_cast<int>(level_of(value, precision, scale));
    codes.push_back(static_cast<std::uint8_t>((level + num_levels(precision) - 1) / 2));
  }
  append_codes(values, codes, precision);
}

void append_row(std::string& values, std::string& scales, std::span<const float> row,
                Precision precision) {
  for (const float value : row) {
    BET_CHECK(std::isfinite(value), "a row to be stored has the value ", value);
  }
  if (precision == Precision::kFloat32) {
    for (const float value : row) append(values, value);
    return;
  }
  if (precision == Precision::kFloat16) {
    for (const float value : row) {
      const std::uint16_t half = float_to_half(value);
      BET_CHECK((half & 0x7c00U) != 0x7c00U, "a row to be stored as fp16 has the value ", value);
      append(values, half);
    }
    return;
  }
  if (has_byte_scale(precision)) {
    append_codes_of(values, scales, row, precision);
  } else {
    append_integers(values, scales, row, precision);
  }
}

// Brings queries into the form that the kernels of a precision take.
class QueryForms {
 public:
  explicit QueryForms(Precision precision) : precision_(precision) {}

  // Valid until the next call, as long as the values are.
  KernelQuery of(std::span<const float> values) {
    even_.clear();
    odd_.clear();
    for (std::size_t j = 0; precision_ == Precision::kInt4 && j < values.size(); ++j) {
      (j % 2 == 0 ? even_ : odd_).push_back(values[j]);
    }
    if (!has_byte_scale(precision_)) return {values.data(), even_.data(), odd_.data()};
    padded_.assign(values.begin(), values.end());
    padded_.resize(values.size() + kQueryPadding);
    return {padded_.data(), nullptr, nullptr};
  }

 private:
  Precision precision_;
  std::vector<float> padded_, even_, odd_;
};

}  // namespace

RowSection::RowSection(Bytes bytes, std::uint32_t num_rows, const RowForm& form,
                       std::string_view what)
    : form_(form), num_rows_(num_rows) {
  ByteReader reader(bytes, what);
  std::uint64_t rows = 0;
  for (std::uint32_t size = 0; size <= form.max_columns; ++size) {
    counts_.push_back(reader.number<std::uint32_t>());
    rows += counts_.back();
    num_params_ += std::uint64_t{size} * form.values_per_column * counts_.back();
    if (counts_.back() > 0) width_ = size * form.values_per_column;
  }
  if (form.layout == RowLayout::kMasked) width_ = 0;  // found in the bitmaps
  BET_CHECK(rows == num_rows, what, ": has sizes for ", rows, " rows instead of ", num_rows);
  const std::uint64_t stored = rows - counts_[0];
  const std::uint64_t mask = form.layout == RowLayout::kMasked ? bitmap_bytes(form.max_columns) : 0;
  const Bytes bitmaps = reader.take(stored * mask);
  const Bytes scales = reader.take(stored * scale_bytes(form.precision));
  std::uint32_t first_row = 0;
  for (std::uint32_t size = form.max_columns; size > 0; --size) {
    const std::uint32_t count = counts_[size];
    if (count == 0) continue;
    Group group;
    group.first_row = first_row;
    group.rows.count = count;
    group.rows.size = size * form.values_per_column;
    group.rows.values = reader.take(count * value_bytes(form.precision, group.rows.size)).data();
    if (!scales.empty()) {
      group.rows.scales = scales.data() + first_row * scale_bytes(form.precision);
    }
    check_values(form.precision, group.rows, what);
    if (mask > 0) {
      group.bitmaps = bitmaps.data() + first_row * mask;
      const std::uint32_t columns = check_bitmaps(group, size, what);
      width_ = std::max(width_, columns * form.values_per_column);
    }
    groups_.push_back(group);
    first_row += count;
  }
  reader.expect_end();
}

RowSection::RowSection(std::span<const float> vectors, std::uint32_t num_rows, std::uint32_t width)
    : num_rows_(num_rows), width_(width), num_params_(vectors.size()) {
  assert(vectors.size() == std::size_t{num_rows} * width);
  form_.max_columns = width;
  counts_.resize(std::size_t{width} + 1);
  counts_[width] = num_rows;
  if (width == 0 || num_rows == 0) return;
  Group group;
  group.rows.values = std::as_bytes(vectors).data();
  group.rows.count = num_rows;
  group.rows.size = width;
  groups_.push_back(group);
}

std::uint32_t RowSection::check_bitmaps(const Group& group, std::uint32_t size,
                                        std::string_view what) const {
  const std::uint64_t mask = bitmap_bytes(form_.max_columns);
  std::uint32_t columns = 0;
  for (std::uint32_t row = 0; row < group.rows.count; ++row) {
    const std::byte* bitmap = group.bitmaps + row * mask;
    std::uint32_t num_set = 0;
    for (std::uint32_t column = 0; column < 8 * mask; ++column) {
      if (!is_set(bitmap, column)) continue;
      ++num_set;
      columns = std::max(columns, column + 1);
      BET_CHECK(column < form_.max_columns, what, ": row ", group.first_row + row, " keeps column ",
                column, " of ", form_.max_columns);
    }
    BET_CHECK(num_set == size, what, ": the bitmap of row ", group.first_row + row, " keeps ",
              num_set, " columns instead of ", size);
  }
  return columns;
}

void RowSection::stored_positions(const Group& group, std::uint32_t row_in_group,
                                  std::vector<std::uint32_t>& out) const {
  out.clear();
  const std::byte* bitmap = group.bitmaps + row_in_group * bitmap_bytes(form_.max_columns);
  for (std::uint32_t column = 0; column < form_.max_columns; ++column) {
    if (!is_set(bitmap, column)) continue;
    for (std::uint32_t i = 0; i < form_.values_per_column; ++i) {
      out.push_back(column * form_.values_per_column + i);
    }
  }
}

RowGroup RowSection::some_rows(const Group& group, std::uint32_t first_in_group,
                               std::uint32_t count) const {
  RowGroup some = group.rows;
  some.values += first_in_group * value_bytes(form_.precision, some.size);
  if (some.scales != nullptr) some.scales += first_in_group * scale_bytes(form_.precision);
  some.count = count;
  return some;
}

float RowSection::dot(const Group& group, std::uint32_t row_in_group,
                      const KernelQuery& query) const {
  std::array<float, kRowsTogether> out{};
  const std::uint32_t first = row_in_group - row_in_group % kRowsTogether;
  if (!has_byte_scale(form_.precision) || first + kRowsTogether > group.rows.count) {
    row_kernels().dots(form_.precision, single_row(group, row_in_group), query, out.data());
    return out[0];
  }
  row_kernels().dots(form_.precision, some_rows(group, first, kRowsTogether), query, out.data());
  return out[row_in_group - first];
}

std::span<const float> RowSection::plain(std::uint32_t columns) const {
  if (form_.precision != Precision::kFloat32 || form_.layout != RowLayout::kPrefix) return {};
  if (groups_.size() != 1 || groups_[0].rows.count != num_rows_) return {};
  const RowGroup& rows = groups_[0].rows;
  if (rows.size != columns || reinterpret_cast<std::uintptr_t>(rows.values) % alignof(float) != 0) {
    return {};
  }
  return {reinterpret_cast<const float*>(rows.values), std::size_t{num_rows_} * columns};
}

void RowSection::decode(std::uint32_t row, std::span<float> out) const {
  std::fill_n(out.begin(), width_, 0.0F);
  for (const Group& group : groups_) {
    if (row < group.first_row || row - group.first_row >= group.rows.count) continue;
    const std::uint32_t inside = row - group.first_row;
    const RowGroup one = single_row(group, inside);
    const float weight = 1;
    if (form_.layout == RowLayout::kPrefix) {
      row_kernels().add(form_.precision, one, &weight, out.data());
      return;
    }
    std::vector<float> packed(one.size);
    row_kernels().add(form_.precision, one, &weight, packed.data());
    std::vector<std::uint32_t> positions;
    stored_positions(group, inside, positions);
    for (std::size_t j = 0; j < positions.size(); ++j) out[positions[j]] = packed[j];
    return;
  }
}

void RowSection::dots(std::span<const float> query, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  QueryForms forms(form_.precision);
  if (form_.layout == RowLayout::kPrefix) {
    const KernelQuery whole = forms.of(query);
    for (const Group& group : groups_) {
      row_kernels().dots(form_.precision, group.rows, whole, out.data() + group.first_row);
    }
    return;
  }
  std::vector<std::uint32_t> positions;
  std::vector<float> gathered;
  for (const Group& group : groups_) {
    RowGroup one = group.rows;
    one.count = 1;
    for (std::uint32_t row = 0; row < group.rows.count; ++row) {
      stored_positions(group, row, positions);
      gathered.clear();
      for (const std::uint32_t position : positions) gathered.push_back(query[position]);
      row_kernels().dots(form_.precision, one, forms.of(gathered),
                         out.data() + group.first_row + row);
      one.values += value_bytes(form_.precision, one.size);
      if (one.scales != nullptr) one.scales += scale_bytes(form_.precision);
    }
  }
}

void RowSection::dots(std::span<const float> query, std::span<const std::uint32_t> rows,
                      std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  QueryForms forms(form_.precision);
  const bool is_prefix = form_.layout == RowLayout::kPrefix;
  const KernelQuery whole = is_prefix ? forms.of(query) : KernelQuery();
  std::vector<std::uint32_t> positions;
  std::vector<float> gathered;
  auto group = groups_.begin();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    while (group != groups_.end() && rows[i] - group->first_row >= group->rows.count) ++group;
    if (group == groups_.end()) return;  // empty rows come last
    const std::uint32_t inside = rows[i] - group->first_row;
    if (is_prefix) {
      out[i] = dot(*group, inside, whole);
      continue;
    }
    const RowGroup one = single_row(*group, inside);
    stored_positions(*group, inside, positions);
    gathered.clear();
    for (const std::uint32_t position : positions) gathered.push_back(query[position]);
    row_kernels().dots(form_.precision, one, forms.of(gathered), out.data() + i);
  }
}

void RowSection::add(std::span<const float> weights, std::span<float> sum) const {
  if (form_.layout == RowLayout::kPrefix) {
    for (const Group& group : groups_) {
      row_kernels().add(form_.precision, group.rows, weights.data() + group.first_row, sum.data());
    }
    return;
  }
  std::vector<float> row_values(width_);
  for (const Group& group : groups_) {
    for (std::uint32_t row = group.first_row; row < group.first_row + group.rows.count; ++row) {
      if (weights[row] == 0) continue;
      decode(row, row_values);
      for (std::uint32_t j = 0; j < width_; ++j) sum[j] += weights[row] * row_values[j];
    }
  }
}

std::string encode_rows(const RowsToStore& rows, const RowForm& form) {
  std::vector<std::uint32_t> counts(std::size_t{form.max_columns} + 1);
  std::string bitmaps;
  std::string scales;
  std::string values;
  std::vector<float> packed;
  for (std::size_t row = 0; row < rows.sizes.size(); ++row) {
    const std::uint32_t size = rows.sizes[row];
    BET_CHECK(size <= form.max_columns && (row == 0 || size <= rows.sizes[row - 1]), "row ", row,
              " to be stored has size ", size);
    ++counts[size];
    if (size == 0) continue;
    const std::span<const float> all = rows.values.subspan(row * rows.stride, rows.stride);
    if (form.layout == RowLayout::kPrefix) {
      append_row(values, scales, all.first(std::size_t{size} * form.values_per_column),
                 form.precision);
      continue;
    }
    const std::size_t first = bitmaps.size();
    bitmaps.resize(first + static_cast<std::size_t>(bitmap_bytes(form.max_columns)));
    packed.clear();
    for (const std::uint32_t column : rows.columns[row]) {
      char& byte = bitmaps[first + column / 8];
      byte = static_cast<char>(byte | 1 << (column % 8));
      for (std::uint32_t i = 0; i < form.values_per_column; ++i) {
        packed.push_back(all[std::size_t{column} * form.values_per_column + i]);
      }
    }
    append_row(values, scales, packed, form.precision);
  }
  std::string bytes;
  for (const std::uint32_t count : counts) append(bytes, count);
  return bytes + bitmaps + scales + values;
}

void round_as_stored(std::span<float> row, Precision precision) {
  if (precision == Precision::kFloat32 || row.empty()) return;
  std::string values;
  std::string scales;
  append_row(values, scales, row, precision);
  RowGroup group;
  group.values = std::as_bytes(std::span(values)).data();
  group.scales = scales.empty() ? nullptr : std::as_bytes(std::span(scales)).data();
  group.count = 1;
  group.size = static_cast<std::uint32_t>(row.size());
  std::fill(row.begin(), row.end(), 0.0F);
  const float weight = 1;
  row_kernels().add(precision, group, &weight, row.data());
}

}  // namespace bet
