#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "runtime/row_kernels.h"
#include "runtime/row_section.h"
#include "runtime/toy_model.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;
using test::exact_bytes;

constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kFloat16, Precision::kInt8,
                                     Precision::kInt4};

float random_value(test::Random& random) {
  return static_cast<float>(random() % 20'001) / 10'000.0F - 1.0F;
}

// A stored value as docs/format.md defines it.
double stored_value(Precision precision, const std::byte* row, std::uint32_t column) {
  switch (precision) {
    case Precision::kFloat32:
      return load<float>(row + 4 * column);
    case Precision::kFloat16:
      return half_to_float(load<std::uint16_t>(row + 2 * column));
    case Precision::kInt8:
      return static_cast<std::int8_t>(row[column]);
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
    }
    for (std::size_t i = 0; precision == Precision::kFloat32 && i < values.size(); i += 4) {
      const float value = random_value(random);
      std::memcpy(values.data() + i, &value, 4);
    }
    for (std::size_t i = 0; precision == Precision::kFloat16 && i < values.size(); i += 2) {
      const std::uint16_t value = float_to_half(random_value(random));
      std::memcpy(values.data() + i, &value, 2);
    }
    if (scale_bytes(precision) > 0) scales.resize(2 * std::size_t{count});
    for (std::uint32_t row = 0; row < count; ++row) {
      double scale = 1;
      if (!scales.empty()) {
        const std::uint16_t half = float_to_half(0.01F * static_cast<float>(random() % 100));
        std::memcpy(scales.data() + 2 * std::size_t{row}, &half, 2);
        scale = half_to_float(half);
      }
      for (std::uint32_t j = 0; j < size; ++j) {
        rows[row][j] =
            scale * stored_value(precision, values.data() + row * value_bytes(precision, size), j);
      }
    }
    group = {values.data(), scales.empty() ? nullptr : scales.data(), count, size};
  }

  std::vector<std::byte> values, scales;
  std::vector<std::vector<double>> rows;
  RowGroup group;
};

std::vector<std::uint32_t> all_sizes() {
  std::vector<std::uint32_t> sizes = {128, 129, 255};
  for (std::uint32_t size = 0; size <= 40; ++size) sizes.push_back(size);
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
        std::vector<float> query(size), even, odd;
        for (std::uint32_t j = 0; j < size; ++j) {
          query[j] = random_value(random);
          (j % 2 == 0 ? even : odd).push_back(query[j]);
        }
        for (std::size_t i = 0; i < num_row_kernels(); ++i) {
          std::vector<float> out(count, -1.0F);
          row_kernels(i).dots(precision, stored.group, {query.data(), even.data(), odd.data()},
                              out.data());
          for (std::uint32_t row = 0; row < count; ++row) {
            double sum = 0;
            double terms = 0;
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
    std::vector<float> sum(width + 3, 1.0F);
    section.add(weights, sum);
    std::vector<double> expected_sum(width + 3, 1.0);
    std::vector<double> sum_terms(width + 3, 1.0);
    for (std::uint32_t row = 0; row < count; ++row) {
      std::vector<float> decoded(width);
      section.decode(row, decoded);
      double expected = 0;
      double terms = 0;
      for (std::uint32_t j = 0; j < width; ++j) {
        expected += double{query[j]} * decoded[j];
        terms += std::abs(double{query[j]} * decoded[j]);
        expected_sum[j] += double{weights[row]} * decoded[j];
        sum_terms[j] += std::abs(double{weights[row]} * decoded[j]);
      }
      ASSERT_NEAR(dots[row], expected, 1e-6 * terms) << max_dim << ' ' << row;
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
