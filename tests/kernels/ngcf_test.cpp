#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "kernels/kernels.h"

namespace bet {
namespace {

std::vector<float> random_floats(std::size_t count, const char* purpose) {
  RandomStream random(1, purpose);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2.0 * random.uniform() - 1.0);
  return values;
}

// One over the share that is kept, or 0, for a place of dropout; 1 where nothing is dropped.
double drop_scale(const Dropout& drop, std::size_t row, std::size_t column) {
  if (drop.threshold == 0) return 1;
  const std::uint32_t word =
      drop_row(drop_key(drop, drop.record->steps), static_cast<std::uint32_t>(row));
  if (is_dropped(drop, word, static_cast<std::uint32_t>(column))) return 0;
  return 1.0 / (1.0 - drop.threshold * 0x1p-32);
}

// Every instruction set, odd and even numbers of columns in its vectors, with and without dropout.
struct Case {
  const Kernels* kernels;
  std::size_t columns;
  Dropout drop;
};

template <typename Check>
void for_every_case(const Check& check) {
  static constexpr StepRecord kRecord = {.steps = 5};
  const Dropout drops = {std::uint32_t{1} << 30, {7, 9}, 2, &kRecord};
  const KernelList sets = runnable_kernels();
  for (const Kernels* const* set = sets.begin; set != sets.end; ++set) {
    for (const std::size_t columns : {8U, 24U, 32U, 128U}) {
      for (const Dropout& drop : {Dropout{}, drops}) {
        SCOPED_TRACE(std::string((*set)->name) + " " + std::to_string(columns) +
                     (drop.threshold != 0 ? " drops" : ""));
        check(Case{*set, columns, drop});
      }
    }
  }
}

constexpr std::size_t kRows = 37;

TEST(NgcfKernels, ActivateRowsEqualsThePlainLoop) {
  for_every_case([](const Case& c) {
    std::vector<float> in = random_floats(kRows * c.columns, "activate");
    std::fill_n(in.begin(), c.columns, 0.0F);  // a row of no length
    const std::size_t stride = c.columns + 16;
    std::vector<float> hidden = in;
    std::vector<float> normalised(kRows * stride, 7.0F);
    std::vector<float> norms(kRows);
    ActivateArgs args;
    args.in = args.hidden = hidden.data();
    args.inverse_norms = norms.data();
    args.normalised = normalised.data();
    args.columns = static_cast<std::uint32_t>(c.columns);
    args.normalised_stride = static_cast<std::uint32_t>(stride);
    args.drop = c.drop;
    c.kernels->activate_rows(args, 0, 20);
    c.kernels->activate_rows(args, 20, kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
      double squares = 0;
      for (std::size_t i = 0; i < c.columns; ++i) {
        const double y = in[row * c.columns + i];
        const double h = (y > 0 ? y : 0.2 * y) * drop_scale(c.drop, row, i);
        ASSERT_NEAR(hidden[row * c.columns + i], h, 1e-6);
        squares += h * h;
      }
      const double inverse = squares > 0 ? 1 / std::sqrt(squares) : 0;
      EXPECT_NEAR(norms[row], inverse, 1e-5 * inverse);
      for (std::size_t i = 0; i < c.columns; ++i) {
        ASSERT_NEAR(normalised[row * stride + i], inverse * hidden[row * c.columns + i], 1e-6);
      }
      EXPECT_EQ(normalised[row * stride + c.columns], 7.0F) << "written behind the row";
    }
  });
}

TEST(NgcfKernels, ActivateBackRowsEqualsThePlainLoop) {
  for_every_case([](const Case& c) {
    const std::vector<float> hidden = random_floats(kRows * c.columns, "hidden");
    const std::vector<float> norms = random_floats(kRows, "norms");
    const std::size_t stride = c.columns + 8;
    const std::vector<float> gradient = random_floats(kRows * stride, "gradient");
    const std::vector<float> more = random_floats(kRows * c.columns, "more");
    for (const float* next : {static_cast<const float*>(nullptr), more.data()}) {
      std::vector<float> out(kRows * c.columns);
      ActivateBackArgs args;
      args.hidden = hidden.data();
      args.inverse_norms = norms.data();
      args.normalised_gradient = gradient.data();
      args.hidden_gradient = next;
      args.out = out.data();
      args.columns = static_cast<std::uint32_t>(c.columns);
      args.normalised_stride = static_cast<std::uint32_t>(stride);
      args.drop = c.drop;
      c.kernels->activate_back_rows(args, 0, kRows);
      for (std::size_t row = 0; row < kRows; ++row) {
        const double inverse = norms[row];
        double along = 0;
        for (std::size_t i = 0; i < c.columns; ++i) {
          along += inverse * hidden[row * c.columns + i] * gradient[row * stride + i];
        }
        for (std::size_t i = 0; i < c.columns; ++i) {
          const double h = hidden[row * c.columns + i];
          double g = inverse * (gradient[row * stride + i] - along * inverse * h);
          if (next != nullptr) g += next[row * c.columns + i];
          g *= (h > 0 ? 1.0 : 0.2) * drop_scale(c.drop, row, i);
          ASSERT_NEAR(out[row * c.columns + i], g, 1e-5 * (1 + std::abs(g)));
        }
      }
    }
  });
}

TEST(NgcfKernels, SplitRowsEqualsThePlainLoop) {
  for_every_case([](const Case& c) {
    const std::vector<float> gradient = random_floats(kRows * 2 * c.columns, "x gradient");
    const std::vector<float> x = random_floats(kRows * 2 * c.columns, "x");
    const std::vector<float> e = random_floats(kRows * c.columns, "e");
    const std::vector<float> scale = random_floats(kRows, "scale");
    const std::size_t stride = c.columns + 8;
    const std::vector<float> extra = random_floats(kRows * stride, "extra");
    std::vector<float> for_s(kRows * c.columns);
    std::vector<float> for_e(kRows * c.columns);
    SplitArgs args;
    args.gradient = gradient.data();
    args.x = x.data();
    args.e = e.data();
    args.scale = scale.data();
    args.extra = extra.data();
    args.extra_stride = static_cast<std::uint32_t>(stride);
    args.columns = static_cast<std::uint32_t>(c.columns);
    args.drop = c.drop;
    args.s_gradient = for_s.data();
    args.e_gradient = for_e.data();
    c.kernels->split_rows(args, 0, kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
      const double self = drop_scale(c.drop, row, row) == 0 ? 0 : scale[row];
      for (std::size_t i = 0; i < c.columns; ++i) {
        const double product = gradient[(2 * row + 1) * c.columns + i];
        const double s = gradient[2 * row * c.columns + i] + product * e[row * c.columns + i];
        ASSERT_NEAR(for_s[row * c.columns + i], s, 1e-5);
        ASSERT_NEAR(for_e[row * c.columns + i],
                    product * x[2 * row * c.columns + i] + self * s + extra[row * stride + i],
                    1e-5);
      }
    }
  });
}

// The gather's part of a layer: a base that may be dropped, and the product beside the result.
TEST(NgcfKernels, GatherRowsWritesResultAndProduct) {
  for_every_case([](const Case& c) {
    if (row_stride(static_cast<std::uint32_t>(c.columns)) != c.columns) return;  // no table's
    RandomStream random(3, "edges");
    std::vector<std::uint64_t> offsets = {0};
    std::vector<std::uint32_t> columns;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::uint32_t e = 0; e < row % 5; ++e) columns.push_back(random.below(kRows));
      offsets.push_back(columns.size());
    }
    columns.resize(columns.size() + kColumnSlack, 0);
    const std::vector<float> e = random_floats(kRows * c.columns, "rows");
    const std::vector<float> scale = random_floats(kRows, "scales");
    std::vector<float> out(kRows * 2 * c.columns);
    GatherArgs args;
    args.offsets = offsets.data();
    args.columns = columns.data();
    args.in = args.base = args.product = e.data();
    args.base_scale = args.sum_scale = scale.data();
    args.stride = static_cast<std::uint32_t>(c.columns);
    args.drop = c.drop;
    args.drop_base = c.drop.threshold != 0;
    args.out = out.data();
    c.kernels->gather_rows(args, 0,
                           kRows);  // entries that are dropped are the executor's to leave out
    for (std::size_t row = 0; row < kRows; ++row) {
      const bool based = drop_scale(c.drop, row, row) != 0;
      for (std::size_t i = 0; i < c.columns; ++i) {
        double sum = based ? e[row * c.columns + i] : 0.0;
        for (std::uint64_t entry = offsets[row]; entry < offsets[row + 1]; ++entry) {
          sum += e[columns[entry] * c.columns + i];
        }
        sum *= scale[row];
        ASSERT_NEAR(out[2 * row * c.columns + i], sum, 1e-5);
        ASSERT_NEAR(out[(2 * row + 1) * c.columns + i], sum * e[row * c.columns + i], 1e-5);
      }
    }
  });
}

}  // namespace
}  // namespace bet
