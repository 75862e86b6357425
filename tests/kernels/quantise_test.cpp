#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/row_quantiser.h"
#include "kernels/kernels.h"

namespace bet {
namespace {

constexpr std::size_t kRows = 40;
constexpr std::size_t kUsers = 17;
constexpr Precision kLowest[] = {Precision::kInt3, Precision::kInt2, Precision::kTernary,
                                 Precision::kInt1};

// Of every precision with a byte for the scale: the levels, from the definition.
std::vector<double> levels_of(Precision precision) {
  std::vector<double> levels;
  for (int code = 0; code < num_levels(precision); ++code) {
    levels.push_back(2.0 * code - (num_levels(precision) - 1));
  }
  return levels;
}

struct Table {
  std::uint32_t first = 8;  // another model's columns stand before these
  std::uint32_t columns = 0;
  std::uint32_t stride = 0;
  std::vector<std::uint16_t> sizes = std::vector<std::uint16_t>(kRows);
  std::vector<float> in;
  std::vector<float> kept;

  explicit Table(std::uint32_t width)
      : columns(row_stride(width)), stride(row_stride(8 + columns)) {
    RandomStream random(width, "rows to quantise");
    in.assign(kRows * stride, 0.0F);
    kept.assign(kRows * stride, 0.0F);
    for (std::size_t row = 0; row < kRows; ++row) {
      sizes[row] = static_cast<std::uint16_t>(row == 0 ? 0 : 1 + random.below(width));
      const double size = std::exp(4 * random.normal());  // rows of many magnitudes
      for (std::uint32_t c = 0; c < sizes[row]; ++c) {
        const std::size_t at = row * stride + first + c;
        kept[at] = random.below(3) > 0 ? 1.0F : 0.0F;
        if (row != 1) in[at] = static_cast<float>(size * random.normal());  // row 1: zeros
      }
    }
  }

  QuantiseArgs args(std::vector<float>& out, const TablePrecision& precision) const {
    QuantiseArgs args;
    args.in = in.data();
    args.out = out.data();
    args.sizes = sizes.data();
    args.stride = stride;
    args.first_column = first;
    args.columns = columns;
    args.num_users = kUsers;
    args.precision = precision;
    return args;
  }
};

// The row as docs/format.md says: the nearest level times the nearest scale.
std::vector<float> plain_row(std::span<const float> row, Precision precision) {
  double squares = 0;
  double largest = 0;
  for (const float value : row) {
    squares += static_cast<double>(value) * value;
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  std::vector<float> out;
  if (!has_byte_scale(precision)) {
    const float highest = precision == Precision::kInt8 ? 127.0F : 7.0F;
    const float scale = half_to_float(float_to_half(static_cast<float>(largest) / highest));
    for (const float value : row) {
      const float level =
          scale == 0 ? 0 : std::clamp(std::nearbyint(value / scale), -highest, highest);
      out.push_back(level * scale);
    }
    return out;
  }
  const double ratio = precision == Precision::kInt3      ? 0.293
                       : precision == Precision::kInt2    ? 0.498
                       : precision == Precision::kTernary ? 0.612
                                                          : 0.798;
  const double wanted = ratio * std::sqrt(squares / static_cast<double>(row.size()));
  const double eighths = wanted > 0 ? std::round(8 * std::log2(wanted)) : -1000;
  const double scale = eighths < -159 ? 0 : std::exp2(std::min(eighths, 95.0) / 8);
  for (const float value : row) {
    double best = 0;
    double distance = 1e300;
    for (const double level : levels_of(precision)) {
      if (std::abs(value - level * scale) >= distance) continue;
      distance = std::abs(value - level * scale);
      best = level * scale;
    }
    out.push_back(static_cast<float>(best));
  }
  return out;
}

TEST(QuantiseKernel, EqualsTheNearestLevelOfEveryValue) {
  const KernelList sets = runnable_kernels();
  for (const Kernels* const* set = sets.begin; set != sets.end; ++set) {
    for (const std::uint32_t width : {1U, 5U, 8U, 16U, 33U, 128U}) {
      const Table table(width);
      for (std::size_t p = static_cast<std::size_t>(Precision::kInt8); p < kPrecisionNames.size();
           ++p) {
        const TablePrecision precision(static_cast<Precision>(p), Precision::kFloat16);
        SCOPED_TRACE(std::string((*set)->name) + " " + std::to_string(width) + " " +
                     std::string(kPrecisionNames[p]));
        std::vector<float> out(table.in.size(), 7.0F);
        (*set)->quantise_rows(table.args(out, precision), 0, kRows);
        for (std::size_t row = 0; row < kRows; ++row) {
          const std::size_t at = row * table.stride + table.first;
          const std::span<const float> in(table.in.data() + at, table.sizes[row]);
          const std::vector<float> expected = row < kUsers
                                                  ? plain_row(in, precision.users)
                                                  : std::vector<float>(in.begin(), in.end());
          for (std::uint32_t c = 0; c < table.columns; ++c) {
            const float wanted = c < table.sizes[row] ? expected[c] : 0.0F;
            ASSERT_NEAR(out[at + c], wanted, 1e-6 * std::abs(wanted)) << row << " " << c;
          }
          ASSERT_EQ(out[at - 1], 7.0F) << "another model's columns";
        }
      }
    }
  }
}

TEST(QuantiseKernel, EveryInstructionSetGivesTheSameBits) {
  const KernelList sets = runnable_kernels();
  const Table table(100);
  for (const Precision precision : kLowest) {
    std::vector<float> plain(table.in.size());
    (*sets.begin)->quantise_rows(table.args(plain, precision), 0, kRows);
    for (const Kernels* const* set = sets.begin; set != sets.end; ++set) {
      std::vector<float> out(table.in.size());
      (*set)->quantise_rows(table.args(out, precision), 0, kRows);
      EXPECT_EQ(out, plain) << (*set)->name;
    }
  }
}

// A value that is not kept is zero, which is no level of int1 and int2, and does not count in the
// row's scale.
TEST(QuantiseKernel, QuantisesTheKeptValuesAlone) {
  const KernelList sets = runnable_kernels();
  for (const Kernels* const* set = sets.begin; set != sets.end; ++set) {
    for (const Precision precision : kLowest) {
      Table table(48);
      for (std::size_t i = 0; i < table.in.size(); ++i) table.in[i] *= table.kept[i];
      std::vector<float> out(table.in.size());
      QuantiseArgs args = table.args(out, precision);
      args.kept = table.kept.data();
      (*set)->quantise_rows(args, 0, kRows);
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::size_t at = row * table.stride + table.first;
        std::vector<float> stored;
        for (std::uint32_t c = 0; c < table.sizes[row]; ++c) {
          if (table.kept[at + c] != 0) stored.push_back(table.in[at + c]);
        }
        const std::vector<float> expected = plain_row(stored, precision);
        std::size_t next = 0;
        for (std::uint32_t c = 0; c < table.sizes[row]; ++c) {
          const float wanted = table.kept[at + c] != 0 ? expected[next++] : 0.0F;
          ASSERT_NEAR(out[at + c], wanted, 1e-6 * std::abs(wanted)) << row << " " << c;
        }
      }
    }
  }
}

TEST(RowQuantiser, AScaleIsTheNearestEighthOfAPowerOfTwo) {
  for (int code = 1; code < 256; ++code) {
    const double scale = scale_of_code(static_cast<std::uint8_t>(code));
    EXPECT_NEAR(scale, std::exp2((code - 160) / 8.0), 1e-7 * scale);
    for (const double off : {-0.49, 0.0, 0.49}) {
      const double root = std::exp2((code - 160 + off) / 8.0) / 0.498;
      EXPECT_EQ(code_of_scale(root * root, Precision::kInt2), code) << off;
    }
  }
  EXPECT_EQ(scale_of_code(0), 0.0F);
  EXPECT_EQ(code_of_scale(0, Precision::kInt1), 0) << "a row of zeros";
  EXPECT_EQ(code_of_scale(1e-30, Precision::kInt1), 0) << "too small for a scale";
  EXPECT_EQ(code_of_scale(1e30, Precision::kInt1), 255);
}

// Of normally distributed values: the figures of Max (1960), Table II, for evenly spaced levels,
// but for what rounding the scale costs.
TEST(RowQuantiser, LosesLittleOfNormallyDistributedValues) {
  const struct {
    Precision precision;
    double error;
  } cases[] = {{Precision::kInt3, 0.0374},
               {Precision::kInt2, 0.1188},
               {Precision::kTernary, 0.190},
               {Precision::kInt1, 0.3634}};
  for (const auto& [precision, error] : cases) {
    RandomStream random(1, "normal values");
    double squares = 0;
    double errors = 0;
    for (int row = 0; row < 2000; ++row) {
      std::vector<float> values(64);
      for (float& value : values) value = static_cast<float>(random.normal());
      const std::vector<float> stored = plain_row(values, precision);
      for (std::size_t i = 0; i < values.size(); ++i) {
        squares += values[i] * values[i];
        errors += (values[i] - stored[i]) * (values[i] - stored[i]);
      }
    }
    EXPECT_NEAR(errors / squares, error, 0.03 * error) << precision_name(precision);
  }
}

}  // namespace
}  // namespace bet
