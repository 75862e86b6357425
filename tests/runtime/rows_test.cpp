#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "base/row_quantiser.h"
#include "runtime/row_kernels.h"
#include "runtime/row_section.h"
#include "runtime/toy_model.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;
using test::exact_bytes;
using test::kPrecisions;

float random_value(test::Random& random) {
  return static_cast<float>(random() % 20'001) / 10'000.0F - 1.0F;
}

// A digit of a row that has so many in a byte, the first one lowest.
int digit(const std::byte* row, std::uint32_t column, int base, std::uint32_t per_byte) {
  int rest = std::to_integer<int>(row[column / per_byte]);
  for (std::uint32_t i = 0; i < column % per_byte; ++i) rest /= base;
  return rest % base;
}

// A stored value as docs/format.md defines it.
double stored_value(Precision precision, const std::byte* row, std::uint32_t size,
                    std::uint32_t column) {
  switch (precision) {
    case Precision::kFloat32:
      return load<float>(row + 4 * column);
    case Precision::kFloat16:
      return half_to_float(load<std::uint16_t>(row + 2 * column));
    case Precision::kInt8:
      return static_cast<std::int8_t>(row[column]);
    case Precision::kInt3:
      return 2 * (digit(row, column, 4, 4) + 4 * digit(row + (size + 3) / 4, column, 2, 8)) - 7;
    case Precision::kInt2:
      return 2 * digit(row, column, 4, 4) - 3;
    case Precision::kTernary:
      return 2 * digit(row, column, 3, 5) - 2;
    case Precision::kInt1:
      return 2 * digit(row, column, 2, 8) - 1;
    case Precision::kInt4:
      break;
  }
  const int pair = std::to_integer<int>(row[column / 2]);
  return (column % 2 == 0 ? pair & 15 : pair >> 4) - 8;
}

// Rows as stored, of random values, and what they are.
struct StoredGroup {
  StoredGroup(Precision precision, std::uint32_t count, std::uint32_t size, test::Random& random)
      : values(count * value_bytes(precision, size)), rows(count, std::vector<double>(size)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::byte>(random());
      if (precision == Precision::kInt8 && values[i] == std::byte{0x80}) values[i] = std::byte{7};
      if (precision == Precision::kTernary) values[i] = static_cast<std::byte>(random() % 243);
    }
    if (has_byte_scale(precision)) clear_unused(precision, count, size);
    for (std::size_t i = 0; precision == Precision::kFloat32 && i < values.size(); i += 4) {
      const float value = random_value(random);
      std::memcpy(values.data() + i, &value, 4);
    }
    for (std::size_t i = 0; precision == Precision::kFloat16 && i < values.size(); i += 2) {
      const std::uint16_t value = float_to_half(random_value(random));
      std::memcpy(values.data() + i, &value, 2);
    }
    scales.resize(scale_bytes(precision) * count);
    for (std::uint32_t row = 0; row < count; ++row) {
      scale_values.push_back(1);
      if (scale_bytes(precision) == 2) {
        const std::uint16_t half = float_to_half(0.01F * static_cast<float>(random() % 100));
        std::memcpy(scales.data() + 2 * std::size_t{row}, &half, 2);
        scale_values.back() = half_to_float(half);
      } else if (scale_bytes(precision) == 1) {
        const std::uint32_t code = row == 3 ? 0 : 100 + random() % 80;
        scales[row] = static_cast<std::byte>(code);
        scale_values.back() = code == 0 ? 0 : static_cast<float>(std::exp2((code - 160.0) / 8));
      }
      const std::byte* const bytes = values.data() + row * value_bytes(precision, size);
      for (std::uint32_t j = 0; j < size; ++j) {
        rows[row][j] = double{scale_values[row]} * stored_value(precision, bytes, size, j);
      }
    }
    group = {values.data(), scales.empty() ? nullptr : scales.data(), count, size};
  }

  // Sets the codes behind a row's last one to 0.
  void clear_unused(Precision precision, std::uint32_t count, std::uint32_t size) {
    const auto clear = [&](std::uint64_t at, std::uint32_t base, std::uint32_t per_byte) {
      std::uint32_t limit = 1;
      for (std::uint32_t i = 0; i < size % per_byte; ++i) limit *= base;
      if (limit == 1) return;
      std::byte& last = values[at + size / per_byte];
      last = static_cast<std::byte>(std::to_integer<std::uint32_t>(last) % limit);
    };
    for (std::uint32_t row = 0; row < count; ++row) {
      const std::uint64_t at = row * value_bytes(precision, size);
      if (precision == Precision::kInt3) clear(at + (size + 3) / 4, 2, 8);
      if (precision == Precision::kInt3 || precision == Precision::kInt2) clear(at, 4, 4);
      if (precision == Precision::kTernary) clear(at, 3, 5);
      if (precision == Precision::kInt1) clear(at, 2, 8);
    }
  }

  std::vector<std::byte> values, scales;
  std::vector<float> scale_values;
  std::vector<std::vector<double>> rows;
  RowGroup group;
};

std::vector<std::uint32_t> all_sizes() {
  std::vector<std::uint32_t> sizes = {255};
  for (std::uint32_t size = 0; size <= 130; ++size) sizes.push_back(size);
  return sizes;
}

TEST(RowKernels, PlainIsAlwaysThereAndTheBestIsTheLast) {
  ASSERT_GE(num_row_kernels(), 1U);
  EXPECT_STREQ(row_kernels(0).name, "plain");
  EXPECT_STREQ(row_kernels().name, row_kernels(num_row_kernels() - 1).name);
}

TEST(RowKernels, DotsAreThoseOfTheObviousLoop) {
  test::Random random(1);
  for (const Precision precision : kPrecisions) {
    for (const std::uint32_t size : all_sizes()) {
      for (const std::uint32_t count : {0U, 1U, 5U}) {
        const StoredGroup stored(precision, count, size, random);
        std::vector<float> query(size + kQueryPadding), even, odd;
        for (std::uint32_t j = 0; j < query.size(); ++j) {
          query[j] = random_value(random);
          (j % 2 == 0 ? even : odd).push_back(query[j]);
        }
        for (std::size_t i = 0; i < num_row_kernels(); ++i) {
          std::vector<float> out(count, -1.0F);
          row_kernels(i).dots(precision, stored.group, {query.data(), even.data(), odd.data()},
                              out.data());
          for (std::uint32_t row = 0; row < count; ++row) {
            double sum = 0;
            // What the unused codes of the last byte add and take, which is rounded too.
            double terms = has_byte_scale(precision) ? 100 * stored.scale_values[row] : 0;
            for (std::uint32_t j = 0; j < size; ++j) {
              sum += query[j] * stored.rows[row][j];
              terms += std::abs(query[j] * stored.rows[row][j]);
            }
            ASSERT_NEAR(out[row], sum, 1e-6 * terms)
                << row_kernels(i).name << ' ' << precision_name(precision) << ' ' << size;
          }
        }
      }
    }
  }
}

TEST(RowKernels, AddIsThatOfTheObviousLoop) {
  test::Random random(2);
  for (const Precision precision : kPrecisions) {
    for (const std::uint32_t size : all_sizes()) {
      const std::uint32_t count = 6;
      const StoredGroup stored(precision, count, size, random);
      std::vector<float> weights(count);
      for (float& weight : weights) weight = random_value(random);
      weights[2] = 0;
      for (std::size_t i = 0; i < num_row_kernels(); ++i) {
        std::vector<float> sum(size, 0.5F);
        row_kernels(i).add(precision, stored.group, weights.data(), sum.data());
        for (std::uint32_t j = 0; j < size; ++j) {
          double expected = 0.5;
          double terms = 0.5;
          for (std::uint32_t row = 0; row < count; ++row) {
            expected += weights[row] * stored.rows[row][j];
            terms += std::abs(weights[row] * stored.rows[row][j]);
          }
          ASSERT_NEAR(sum[j], expected, 1e-6 * terms)
              << row_kernels(i).name << ' ' << precision_name(precision) << ' ' << size;
        }
      }
    }
  }
}

// One rounding: training computes the same values.
TEST(RowKernels, ASingleRowIsItsLevelsTimesItsScaleToTheBit) {
  test::Random random(6);
  for (const Precision precision : kPrecisions) {
    if (!is_integer(precision)) continue;
    for (const std::uint32_t size : all_sizes()) {
      const StoredGroup stored(precision, 1, size, random);
      for (std::size_t i = 0; i < num_row_kernels(); ++i) {
        std::vector<float> row(size);
        const float weight = 1;
        row_kernels(i).add(precision, stored.group, &weight, row.data());
        for (std::uint32_t j = 0; j < size; ++j) {
          const double level = stored_value(precision, stored.values.data(), size, j);
          ASSERT_EQ(row[j], static_cast<float>(level) * stored.scale_values[0])
              << row_kernels(i).name << ' ' << precision_name(precision) << ' ' << size;
        }
      }
    }
  }
}

TEST(RowKernels, RowsOfWeightZeroAreNotRead) {
  for (std::size_t i = 0; i < num_row_kernels(); ++i) {
    const std::vector<std::byte> values(8, std::byte{0xff});  // two NaNs
    const float weights[] = {0, 0};
    float sum = 3;
    row_kernels(i).add(Precision::kFloat32, {values.data(), nullptr, 2, 1}, weights, &sum);
    EXPECT_EQ(sum, 3) << row_kernels(i).name;
  }
}

// Rows of random values and descending sizes, some as large as allowed and some empty, with columns
// of their own where they are masked.
struct Table {
  Table(const RowForm& form_, std::uint32_t count, test::Random& random) : form(form_) {
    const std::uint32_t max_dim = form.max_columns;
    rows.stride = std::size_t{max_dim} * form.values_per_column;
    rows.sizes = {max_dim, 0};
    while (rows.sizes.size() < count) rows.sizes.push_back(random() % (max_dim + 1));
    std::sort(rows.sizes.begin(), rows.sizes.end(), std::greater<>());
    for (const std::uint32_t size : rows.sizes) {
      std::vector<std::uint32_t> columns(max_dim);
      for (std::uint32_t j = 0; j < max_dim; ++j) columns[j] = j;
      std::shuffle(columns.begin(), columns.end(), random);
      columns.resize(size);
      std::sort(columns.begin(), columns.end());
      rows.columns.push_back(columns);
      // Sizes from far below the smallest scale to large ones.
      const auto magnitude =
          static_cast<float>(std::pow(10.0, static_cast<int>(random() % 14) - 10));
      for (std::size_t j = 0; j < rows.stride; ++j) {
        values.push_back(magnitude * random_value(random));
      }
    }
    rows.values = values;
  }

  // The positions of the stored values in a whole row.
  std::vector<std::uint32_t> positions(std::size_t row) const {
    std::vector<std::uint32_t> result;
    for (std::uint32_t j = 0; j < rows.sizes[row]; ++j) {
      const std::uint32_t column = form.layout == RowLayout::kMasked ? rows.columns[row][j] : j;
      for (std::uint32_t i = 0; i < form.values_per_column; ++i) {
        result.push_back(column * form.values_per_column + i);
      }
    }
    return result;
  }
  // The row as it would be without rounding.
  std::vector<float> whole_row(std::size_t row) const {
    std::vector<float> result(rows.stride);
    for (const std::uint32_t at : positions(row)) result[at] = values[row * rows.stride + at];
    return result;
  }

  RowForm form;
  RowsToStore rows;
  std::vector<float> values;
};

using RowsParam = std::tuple<Precision, RowLayout, std::uint32_t>;

class Rows : public testing::TestWithParam<RowsParam> {
 protected:
  RowForm form(std::uint32_t max_columns) const {
    return {max_columns, per_column_, precision_, layout_};
  }
  // That the stored values at these positions are the levels nearest to those wanted, for the scale
  // that the root mean square asks for, and that all others are 0.
  void expect_nearest_levels(const std::vector<std::uint32_t>& positions,
                             const std::vector<float>& wanted,
                             const std::vector<float>& decoded) const {
    double squares = 0;
    for (const std::uint32_t at : positions) squares += double{wanted[at]} * wanted[at];
    const double rms = std::sqrt(squares / static_cast<double>(positions.size()));
    const double factor = precision_ == Precision::kInt3      ? 0.293
                          : precision_ == Precision::kInt2    ? 0.498
                          : precision_ == Precision::kTernary ? 0.612
                                                              : 0.798;
    const double eighths = std::round(8 * std::log2(factor * rms));
    const auto scale = static_cast<float>(eighths > -160 ? std::exp2(eighths / 8) : 0);
    const int levels = num_levels(precision_);
    std::vector<bool> is_stored(decoded.size());
    for (const std::uint32_t at : positions) {
      is_stored[at] = true;
      double nearest = std::numeric_limits<double>::infinity();
      bool is_level = false;
      for (int level = 1 - levels; level < levels; level += 2) {
        const float value = static_cast<float>(level) * scale;
        is_level = is_level || decoded[at] == value;
        nearest = std::min(nearest, std::abs(double{value} - wanted[at]));
      }
      ASSERT_TRUE(is_level) << decoded[at] << " by " << scale;
      ASSERT_NEAR(decoded[at], wanted[at], 1.000001 * nearest);
    }
    for (std::size_t at = 0; at < decoded.size(); ++at) {
      ASSERT_TRUE(is_stored[at] || decoded[at] == 0);
    }
  }

  const Precision precision_ = std::get<0>(GetParam());
  const RowLayout layout_ = std::get<1>(GetParam());
  const std::uint32_t per_column_ = std::get<2>(GetParam());
};

TEST_P(Rows, ComeBackAsNearAsTheirPrecisionAllows) {
  test::Random random(3);
  for (const std::uint32_t max_dim : {1U, 2U, 7U, 8U, 9U, 16U, 33U, 130U}) {
    const Table table(form(max_dim), 40, random);
    const std::vector<std::byte> bytes = exact_bytes(encode_rows(table.rows, table.form));
    const auto count = static_cast<std::uint32_t>(table.rows.sizes.size());
    const RowSection section(bytes, count, table.form, "rows");
    const std::uint32_t width = max_dim * per_column_;
    EXPECT_EQ(section.width(), width);
    std::uint64_t expected_bytes = 4 * (std::uint64_t{max_dim} + 1);
    std::uint64_t params = 0;
    std::vector<std::uint32_t> counts(max_dim + 1);
    for (const std::uint32_t size : table.rows.sizes) {
      ++counts[size];
      params += size * per_column_;
      if (size == 0) continue;
      expected_bytes += value_bytes(precision_, size * per_column_) + scale_bytes(precision_);
      if (layout_ == RowLayout::kMasked) expected_bytes += (max_dim + 7) / 8;
    }
    EXPECT_EQ(bytes.size(), expected_bytes);
    EXPECT_EQ(section.counts(), counts);
    EXPECT_EQ(section.num_params(), params);
    for (std::uint32_t row = 0; row < count; ++row) {
      std::vector<float> decoded(width, 9.0F);
      section.decode(row, decoded);
      const std::vector<float> wanted = table.whole_row(row);
      float largest = 0;
      for (const float value : wanted) largest = std::max(largest, std::abs(value));
      if (has_byte_scale(precision_)) {
        expect_nearest_levels(table.positions(row), wanted, decoded);
        continue;
      }
      const float levels = precision_ == Precision::kInt8 ? 127.0F : 7.0F;
      const float scale = half_to_float(float_to_half(largest / levels));
      for (std::uint32_t j = 0; j < width; ++j) {
        if (precision_ == Precision::kFloat32) {
          ASSERT_EQ(decoded[j], wanted[j]);
        } else if (precision_ == Precision::kFloat16) {
          ASSERT_EQ(decoded[j], half_to_float(float_to_half(wanted[j])));
        } else {
          // Half a step, or what lies beyond the last step where the scale was rounded down.
          const float beyond = std::abs(wanted[j]) - levels * scale;
          ASSERT_NEAR(decoded[j], wanted[j], 1.0001F * std::max(scale / 2, beyond)) << max_dim;
        }
      }
    }
  }
}

TEST_P(Rows, DotsAndSumsAreThoseOfTheDecodedRows) {
  test::Random random(4);
  for (const std::uint32_t max_dim : {1U, 5U, 8U, 41U}) {
    const Table table(form(max_dim), 30, random);
    const std::vector<std::byte> bytes = exact_bytes(encode_rows(table.rows, table.form));
    const std::uint32_t width = max_dim * per_column_;
    const auto count = static_cast<std::uint32_t>(table.rows.sizes.size());
    const RowSection section(bytes, count, table.form, "rows");
    // Longer than the rows, as that of a table whose other side is wider.
    std::vector<float> query(width + 3);
    for (float& value : query) value = random_value(random);
    std::vector<float> weights(count);
    for (float& weight : weights) weight = random() % 3 == 0 ? 0.0F : random_value(random);
    std::vector<float> dots(count, 9.0F);
    section.dots(query, dots);
    std::vector<std::uint32_t> some;
    for (std::uint32_t row = 0; row < count; ++row) {
      if (random() % 3 == 0) some.push_back(row);
    }
    std::vector<float> dots_of_some(some.size(), 9.0F);
    section.dots(query, some, dots_of_some);
    std::vector<float> sum(width + 3, 1.0F);
    section.add(weights, sum);
    std::vector<double> expected_sum(width + 3, 1.0);
    std::vector<double> sum_terms(width + 3, 1.0);
    for (std::uint32_t row = 0; row < count; ++row) {
      std::vector<float> decoded(width);
      section.decode(row, decoded);
      double expected = 0;
      // What the unused codes of the last byte add and take, which is rounded too.
      double terms = 0;
      for (const float value : decoded) terms = std::max(terms, 100.0 * std::abs(value));
      if (!has_byte_scale(precision_)) terms = 0;
      for (std::uint32_t j = 0; j < width; ++j) {
        expected += double{query[j]} * decoded[j];
        terms += std::abs(double{query[j]} * decoded[j]);
        expected_sum[j] += double{weights[row]} * decoded[j];
        sum_terms[j] += std::abs(double{weights[row]} * decoded[j]);
      }
      ASSERT_NEAR(dots[row], expected, 1e-6 * terms) << max_dim << ' ' << row;
      const auto found = std::find(some.begin(), some.end(), row);
      if (found == some.end()) continue;
      ASSERT_NEAR(dots_of_some[static_cast<std::size_t>(found - some.begin())], expected,
                  1e-6 * terms)
          << max_dim << ' ' << row;
    }
    for (std::uint32_t j = 0; j < width + 3; ++j) {
      ASSERT_NEAR(sum[j], expected_sum[j], 1e-6 * sum_terms[j]) << max_dim << ' ' << j;
    }
  }
}

TEST_P(Rows, RoundedAsStoredIsWhatIsReadBack) {
  test::Random random(5);
  const Table table(form(23), 20, random);
  const std::vector<std::byte> bytes = exact_bytes(encode_rows(table.rows, table.form));
  const auto count = static_cast<std::uint32_t>(table.rows.sizes.size());
  const RowSection section(bytes, count, table.form, "rows");
  for (std::uint32_t row = 0; row < count; ++row) {
    std::vector<float> decoded(table.rows.stride);
    section.decode(row, decoded);
    std::vector<float> rounded;
    std::vector<float> read;
    for (const std::uint32_t at : table.positions(row)) {
      rounded.push_back(table.values[row * table.rows.stride + at]);
      read.push_back(decoded[at]);
    }
    round_as_stored(rounded, precision_);
    EXPECT_EQ(rounded, read) << row;
  }
}

TEST_P(Rows, NoneAndOnlyEmptyOnes) {
  for (const std::uint32_t count : {0U, 3U}) {
    RowsToStore rows;
    rows.sizes.assign(count, 0);
    rows.columns.resize(count);
    const std::vector<std::byte> bytes = exact_bytes(encode_rows(rows, form(4)));
    EXPECT_EQ(bytes.size(), 20U);
    const RowSection section(bytes, count, form(4), "rows");
    EXPECT_EQ(section.width(), 0U);
    EXPECT_EQ(section.num_params(), 0U);
    std::vector<float> dots(count, 9.0F);
    section.dots({}, dots);
    EXPECT_EQ(dots, std::vector<float>(count, 0.0F));
  }
}

// The weights of a backbone need no columns that no row stores.
TEST_P(Rows, AreAsWideAsTheLastColumnThatIsKept) {
  RowsToStore rows;
  rows.stride = 6 * per_column_;
  const std::vector<float> values(2 * rows.stride, 0.5F);
  rows.values = values;
  rows.sizes = {2, 1};
  rows.columns = {{0, 3}, {2}};
  const std::vector<std::byte> bytes = exact_bytes(encode_rows(rows, form(6)));
  const RowSection section(bytes, 2, form(6), "rows");
  EXPECT_EQ(section.width(), (layout_ == RowLayout::kMasked ? 4 : 2) * per_column_);
}

TEST_P(Rows, InfiniteValuesAreNotStored) {
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e9F}) {
    RowsToStore rows;
    rows.stride = 2;
    const std::vector<float> values = {0.5F, value};
    rows.values = values;
    rows.sizes = {2 / per_column_};
    rows.columns = {per_column_ == 1 ? std::vector<std::uint32_t>{0, 1}
                                     : std::vector<std::uint32_t>{0}};
    if (precision_ == Precision::kFloat32 && std::isfinite(value)) {
      EXPECT_NO_THROW(encode_rows(rows, form(2)));
    } else {
      EXPECT_NE(error_of([&] { encode_rows(rows, form(2)); }).find("to be stored"),
                std::string::npos);
    }
  }
}

TEST(RowSectionOfFloats, IsOfVectorsInMemory) {
  const std::vector<float> vectors = {1, 2, 3, 4, 5, 6};
  const RowSection section(vectors, 2, 3);
  EXPECT_EQ(section.width(), 3U);
  std::vector<float> row(3);
  section.decode(1, row);
  EXPECT_EQ(row, (std::vector<float>{4, 5, 6}));
  std::vector<float> dots(2);
  section.dots(std::vector<float>{1, 0, -1}, dots);
  EXPECT_EQ(dots, (std::vector<float>{-2, -2}));
  EXPECT_EQ(RowSection(std::span<const float>(), 0, 3).width(), 3U);
  EXPECT_EQ(RowSection(std::span<const float>(), 3, 0).width(), 0U);
}

std::string rows_name(const testing::TestParamInfo<RowsParam>& info) {
  return std::string(precision_name(std::get<0>(info.param))) +
         (std::get<1>(info.param) == RowLayout::kPrefix ? "prefix" : "masked") +
         (std::get<2>(info.param) == 1 ? "" : "pairs");
}

INSTANTIATE_TEST_SUITE_P(All, Rows,
                         testing::Combine(testing::ValuesIn(kPrecisions),
                                          testing::Values(RowLayout::kPrefix, RowLayout::kMasked),
                                          testing::Values(1U, 2U)),
                         rows_name);

}  // namespace
}  // namespace bet
