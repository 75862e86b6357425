#include "kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/sanitized.h"

namespace bet {
namespace {

// Every instruction set of this machine.
class EveryKernelSet : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernels() const { return *GetParam(); }
};

// Tables lie on 64-byte boundaries.
class AlignedTable {
 public:
  AlignedTable(std::size_t size, float value) : values_(size + 16, value) {}
  float* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(values_.data());
    return values_.data() + (64 - address % 64) % 64 / sizeof(float);
  }
  float operator[](std::size_t i) { return data()[i]; }

 private:
  std::vector<float> values_;
};

std::vector<const Kernels*> all_sets() {
  return {runnable_kernels().begin, runnable_kernels().end};
}

INSTANTIATE_TEST_SUITE_P(Sets, EveryKernelSet, testing::ValuesIn(all_sets()),
                         [](const auto& test) { return std::string(test.param->name); });

std::uint16_t to_bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
float from_bf16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

struct RandomProduct {
  std::size_t rows = 37;
  std::uint32_t stride = 0;
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> columns;
  std::vector<float> column_weight, in, base, base_scale, sum_scale;
  std::vector<std::uint16_t> in_bf16;

  // Small integers: float sums are exact, so results must be equal, not near.
  RandomProduct(std::uint32_t width, std::mt19937& random) : stride(row_stride(width)) {
    const auto small = [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4); };
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t e = random() % 8; e > 0; --e) {
        columns.push_back(static_cast<std::uint32_t>(random() % rows));
      }
      offsets.push_back(columns.size());
      column_weight.push_back(small());
      base_scale.push_back(small());
      sum_scale.push_back(small());
    }
    columns.resize(columns.size() + kColumnSlack, 0);
    for (std::size_t i = 0; i < rows * stride; ++i) {
      in.push_back(small());
      base.push_back(small());
      in_bf16.push_back(to_bf16(in.back()));
    }
  }

  GatherArgs args(bool weighted) const {
    GatherArgs args;
    args.offsets = offsets.data();
    args.columns = columns.data();
    if (weighted) args.column_weight = column_weight.data();
    args.in = in.data();
    args.stride = stride;
    return args;
  }

  // The obvious twin.
  float expected(bool weighted, std::size_t row, std::size_t c, bool with_base) const {
    float sum = 0;
    for (std::uint64_t e = offsets[row]; e < offsets[row + 1]; ++e) {
      sum += (weighted ? column_weight[columns[e]] : 1.0F) * in[columns[e] * stride + c];
    }
    if (!with_base) return sum;
    return base_scale[row] * base[row * stride + c] + 2.0F * sum_scale[row] * sum;
  }
};

TEST_P(EveryKernelSet, GatherEqualsThePlainSum) {
  std::mt19937 random(1);
  const float factor = 2.0F;
  for (const std::uint32_t width : {1U, 6U, 8U, 9U, 16U, 33U, 48U, 64U, 100U, 128U, 150U, 300U}) {
    const RandomProduct product(width, random);
    for (const bool weighted : {false, true}) {
      for (const bool with_base : {false, true}) {
        for (const bool bf16_in : {false, true}) {
          GatherArgs args = product.args(weighted);
          if (with_base) {
            args.base = product.base.data();
            args.base_scale = product.base_scale.data();
            args.sum_scale = product.sum_scale.data();
            args.factor = &factor;
          }
          if (bf16_in) args.in_bf16 = product.in_bf16.data();
          AlignedTable out(product.rows * product.stride, -99.0F);
          args.out = out.data();
          args.past_cache = bf16_in;  // both ways to write, on both kinds of rows
          kernels().gather_rows(args, 0, product.rows / 2);
          kernels().gather_rows(args, product.rows / 2, product.rows);
          for (std::size_t row = 0; row < product.rows; ++row) {
            for (std::size_t c = 0; c < product.stride; ++c) {
              ASSERT_EQ(out[row * product.stride + c],
                        product.expected(weighted, row, c, with_base))
                  << "width " << width << " row " << row << " column " << c;
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryKernelSet, GatherLeavesRowsThatAreNotNeeded) {
  std::mt19937 random(2);
  for (const std::uint32_t width : {6U, 48U}) {
    const RandomProduct product(width, random);
    std::vector<std::uint8_t> needed(product.rows);
    for (std::uint8_t& mark : needed) mark = static_cast<std::uint8_t>(random() % 2);
    GatherArgs args = product.args(false);
    args.needed = needed.data();
    std::vector<float> out(product.rows * product.stride, -99.0F);
    args.out = out.data();
    kernels().gather_rows(args, 0, product.rows);
    for (std::size_t row = 0; row < product.rows; ++row) {
      const float expected = needed[row] != 0 ? product.expected(false, row, 0, false) : -99.0F;
      EXPECT_EQ(out[row * product.stride], expected);
    }
  }
}

TEST_P(EveryKernelSet, GatherRoundsBfloat16ToNearestEven) {
  const float exact = 1.0F;
  const float down = std::bit_cast<float>(0x3f808000U - 1);  // just below half way
  const float tie = std::bit_cast<float>(0x3f808000U);       // half way, even below
  const float odd_tie = std::bit_cast<float>(0x3f818000U);   // half way, even above
  for (const std::uint32_t width : {8U, 16U}) {
    const std::vector<std::uint64_t> offsets = {0, 1};
    const std::vector<std::uint32_t> columns(1 + kColumnSlack, 0);
    std::vector<float> in(width, exact);
    in[1] = down;
    in[2] = tie;
    in[3] = odd_tie;
    std::vector<std::uint16_t> out(width);
    GatherArgs args;
    args.offsets = offsets.data();
    args.columns = columns.data();
    args.in = in.data();
    args.out_bf16 = out.data();
    args.stride = width;
    kernels().gather_rows(args, 0, 1);
    EXPECT_EQ(out[0], 0x3f80);
    EXPECT_EQ(out[1], 0x3f80);
    EXPECT_EQ(out[2], 0x3f80);
    EXPECT_EQ(out[3], 0x3f82);
    EXPECT_EQ(from_bf16(out[0]), 1.0F);
  }
}

// A batch over random vectors, from near zero to scores of some hundred, with another model's
// columns on both sides of the tested one's.
struct RandomBatch {
  static constexpr std::uint32_t kRows = 200;
  static constexpr std::uint32_t kFirst = 8;
  std::uint32_t width, columns, stride, size, pool;
  std::vector<float> vectors;
  std::vector<std::uint32_t> rows, seen_mask;
  std::vector<float> loss, contributions, scratch;
  LossKind kind = LossKind::kBpr;
  float temperature = 0.7F;  // of the softmax

  RandomBatch(std::uint32_t wide, std::uint32_t entries, std::uint32_t negatives,
              std::mt19937& random)
      : width(wide),
        columns(row_stride(wide)),
        stride(row_stride(kFirst + columns + 8)),
        size(entries),
        pool(negatives),
        vectors(std::size_t{kRows} * stride, 0.5F),
        seen_mask(std::size_t{entries} * std::max(1U, negatives / kPool)),
        loss(entries, -99.0F),
        scratch(pool_scratch(negatives, columns), -99.0F) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::uint32_t c = 0; c < columns; ++c) {
        vectors[row * stride + kFirst + c] =
            c < width ? std::normal_distribution<float>(0, row % 2 == 0 ? 0.1F : 3.0F)(random)
                      : 0.0F;
      }
    }
    const std::uint32_t num_slots = 2 * size + (size + pool - 1) / pool * pool;
    for (std::uint32_t i = 0; i < num_slots; ++i) {
      rows.push_back(static_cast<std::uint32_t>(random() % kRows));
    }
    for (std::uint32_t& bits : seen_mask) bits = static_cast<std::uint32_t>(random() & random());
    contributions.assign(std::size_t{num_slots} * stride, -99.0F);
  }

  LossArgs args() {
    LossArgs args;
    args.vectors = vectors.data();
    args.stride = stride;
    args.first_column = kFirst;
    args.columns = columns;
    args.rows = rows.data();
    args.seen_mask = seen_mask.data();
    args.size = size;
    args.pool = pool;
    args.kind = kind;
    args.temperature = temperature;
    args.loss = loss.data();
    args.contributions = contributions.data();
    args.scratch = scratch.data();
    return args;
  }

  // Whether an entry's k-th negative counts.
  bool counts(std::size_t entry, std::uint32_t k) const {
    if (pool == 1) return true;
    return (seen_mask[entry * (pool / 32) + k / 32] >> k % 32 & 1) == 0;
  }

  // The obvious twin, in double. Scores of some hundred have errors of 1e-4, which a softmax
  // divides by its temperature.
  void expect_terms() const {
    const double tolerance = kind == LossKind::kSoftmax ? 1e-3 : 2e-4;
    std::vector<double> expected(contributions.size(), 0.0);
    const auto at = [&](std::size_t slot, std::uint32_t c) {
      return static_cast<double>(vectors[rows[slot] * stride + kFirst + c]);
    };
    const auto add = [&](std::size_t slot, std::uint32_t c, double value) {
      expected[slot * stride + kFirst + c] += value;
    };
    for (std::size_t e = 0; e < size; ++e) {
      const std::size_t i = size + e;
      const std::size_t first = 2 * std::size_t{size} + e / pool * pool;
      std::vector<double> x(pool);  // what the negatives' scores are above the positive's
      for (std::uint32_t k = 0; k < pool; ++k) {
        for (std::uint32_t c = 0; c < width; ++c) x[k] += at(e, c) * (at(first + k, c) - at(i, c));
      }
      double largest = 0;
      for (std::uint32_t k = 0; k < pool; ++k) {
        if (counts(e, k)) largest = std::max(largest, x[k] / temperature);
      }
      double all = std::exp(-largest);
      for (std::uint32_t k = 0; k < pool; ++k) {
        if (counts(e, k)) all += std::exp(x[k] / temperature - largest);
      }
      double expected_loss = kind == LossKind::kSoftmax ? largest + std::log(all) : 0.0;
      for (std::uint32_t k = 0; k < pool; ++k) {
        if (!counts(e, k)) continue;
        const std::size_t j = first + k;
        double pull = std::exp(x[k] / temperature - largest) / all / temperature / size;
        if (kind == LossKind::kBpr) {
          expected_loss +=
              (x[k] < 0 ? std::log1p(std::exp(x[k])) : x[k] + std::log1p(std::exp(-x[k]))) / pool;
          pull = 1.0 / (1.0 + std::exp(-x[k])) / size / pool;
        }
        for (std::uint32_t c = 0; c < width; ++c) {
          add(e, c, pull * (at(j, c) - at(i, c)));
          add(i, c, -pull * at(e, c));
          add(j, c, pull * at(e, c));
        }
      }
      EXPECT_NEAR(loss[e], expected_loss, tolerance * (1 + expected_loss)) << "entry " << e;
    }
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      for (std::uint32_t c = 0; c < stride; ++c) {
        const float found = contributions[slot * stride + c];
        if (c < kFirst || c >= kFirst + columns) {
          ASSERT_EQ(found, -99.0F) << "another model's column was written";
        } else {
          ASSERT_NEAR(found, expected[slot * stride + c],
                      tolerance / size + tolerance * std::fabs(expected[slot * stride + c]))
              << "width " << width << " slot " << slot << " column " << c;
        }
      }
    }
  }
};

TEST_P(EveryKernelSet, BprPairsAreSoftplusAndItsGradient) {
  std::mt19937 random(3);
  for (const std::uint32_t width : {3U, 16U, 128U}) {
    RandomBatch batch(width, 50, 1, random);
    kernels().loss_pairs(batch.args(), 0, 20);
    kernels().loss_pairs(batch.args(), 20, 50);
    batch.expect_terms();
  }
}

TEST_P(EveryKernelSet, PoolsGiveBothLossesAndTheirGradients) {
  std::mt19937 random(4);
  for (const LossKind kind : {LossKind::kBpr, LossKind::kSoftmax}) {
    for (const std::uint32_t width : {3U, 16U, 40U, 128U, 200U}) {
      for (const std::uint32_t pool : {kPool, 96U, 128U}) {
        // Sanitizers, which are slow here, see widths and pools of several blocks once.
        if (test::kSanitized && (width == 128 || pool == 128)) continue;
        // Whole blocks, a rest that ends within a tile, less than one.
        for (const std::uint32_t size : {2 * pool, pool + 38, 5U}) {
          RandomBatch batch(width, size, pool, random);
          batch.kind = kind;
          kernels().loss_pools(batch.args(), 0, 1);
          kernels().loss_pools(batch.args(), 1, (size + pool - 1) / pool);
          batch.expect_terms();
        }
      }
    }
  }
}

// Where ranks have a part of the columns each, scores are computed first and summed between them.
TEST_P(EveryKernelSet, TermsOfGivenScoresAreThoseOfTheirSum) {
  std::mt19937 random(6);
  for (const LossKind kind : {LossKind::kBpr, LossKind::kSoftmax}) {
    for (const std::uint32_t pool : {1U, kPool, 96U}) {
      if (kind == LossKind::kSoftmax && pool == 1) continue;
      for (const std::uint32_t width : {3U, 16U, 40U}) {
        const std::uint32_t size = 2 * pool + 38;
        RandomBatch batch(width, size, pool, random);
        batch.kind = kind;
        const std::uint32_t units = (size + pool - 1) / pool;  // entries, or blocks
        const auto score = pool == 1 ? kernels().score_pairs : kernels().score_pools;
        const auto terms = pool == 1 ? kernels().loss_pairs : kernels().loss_pools;
        // In two parts, each with scores of its own.
        for (const auto& [begin, end] : {std::pair(0U, 1U), std::pair(1U, units)}) {
          std::vector<float> positives(size);
          std::vector<float> scores((std::size_t{size} + kPool) * pool);
          LossArgs args = batch.args();
          args.first_scored = std::size_t{begin} * pool;
          args.scores = scores.data();
          args.positive_scores = positives.data();
          score(args, begin, end);
          terms(args, begin, end);
        }
        batch.expect_terms();
        RandomBatch whole = batch;
        std::ranges::fill(whole.contributions, -99.0F);
        terms(whole.args(), 0, units);
        EXPECT_EQ(whole.contributions, batch.contributions);
        EXPECT_EQ(whole.loss, batch.loss);
      }
    }
  }
}

TEST_P(EveryKernelSet, NormalisedRowsHaveLengthOneAndTheirGradient) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  constexpr std::size_t kRows = 20;
  constexpr std::uint32_t kFirst = 8;
  for (const std::uint32_t width : {3U, 8U, 20U, 128U}) {
    const std::uint32_t columns = row_stride(width);
    const std::uint32_t stride = row_stride(kFirst + columns + 8);
    std::vector<float> in(kRows * stride);
    std::vector<float> gradient(kRows * stride);
    for (std::size_t row = 1; row < kRows; ++row) {  // the first is zero
      for (std::uint32_t c = 0; c < width; ++c) {
        in[row * stride + kFirst + c] = normal(random);
        gradient[row * stride + kFirst + c] = normal(random);
      }
    }
    std::vector<std::uint8_t> needed(kRows, 1);
    needed[5] = 0;
    std::vector<float> out(in.size(), -99.0F);
    std::vector<float> norms(kRows, -99.0F);
    kernels().normalise_rows(
        {in.data(), out.data(), norms.data(), needed.data(), stride, kFirst, columns}, 0, kRows);
    std::vector<float> back(in.size(), -99.0F);
    kernels().normalise_back_rows({out.data(), norms.data(), needed.data(), gradient.data(),
                                   back.data(), stride, kFirst, columns},
                                  0, kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::size_t first = row * stride + kFirst;
      double squares = 0;
      for (std::uint32_t c = 0; c < width; ++c) squares += double{in[first + c]} * in[first + c];
      const double length = std::sqrt(squares);
      double along = 0;  // of the gradient, in the direction of the row
      for (std::uint32_t c = 0; c < width && length > 0; ++c) {
        along += gradient[first + c] * in[first + c] / length;
      }
      for (std::uint32_t c = 0; c < width; ++c) {
        const double unit = length > 0 ? in[first + c] / length : 0.0;
        const double slope = length > 0 ? (gradient[first + c] - along * unit) / length : 0.0;
        EXPECT_NEAR(out[first + c], needed[row] != 0 ? unit : -99.0, 1e-6);
        EXPECT_NEAR(back[first + c], needed[row] != 0 ? slope : 0.0, 1e-5);
      }
      EXPECT_EQ(out[first - 1], -99.0F) << "another model's column was written";
      EXPECT_EQ(back[first + columns], -99.0F) << "another model's column was written";
    }
  }
}

TEST_P(EveryKernelSet, AnInfiniteScoreIsNotHidden) {
  std::mt19937 random(5);
  for (const bool softmax : {false, true}) {
    for (const std::uint32_t pool : {1U, kPool}) {
      if (softmax && pool == 1) continue;
      RandomBatch batch(8, 32, pool, random);
      if (softmax) batch.kind = LossKind::kSoftmax;
      std::fill(batch.seen_mask.begin(), batch.seen_mask.end(), 0U);
      for (std::uint32_t c = 0; c < 8; ++c) {
        batch.vectors[batch.rows[3] * batch.stride + RandomBatch::kFirst + c] =
            std::numeric_limits<float>::quiet_NaN();
      }
      if (pool == 1) {
        kernels().loss_pairs(batch.args(), 0, 32);
      } else {
        kernels().loss_pools(batch.args(), 0, 1);
      }
      EXPECT_TRUE(std::isnan(batch.loss[3]));
    }
  }
}

TEST_P(EveryKernelSet, AdamMovesKeptColumnsAsTheFormulaAndNoOther) {
  std::mt19937 random(4);
  constexpr std::uint32_t kStride = 48;
  constexpr std::size_t kRows = 49;
  std::vector<float> p(kRows * kStride), m(p), v(p), g(p);
  std::vector<std::uint16_t> sizes;
  std::vector<std::uint32_t> count;
  std::vector<std::uint64_t> offsets = {0};
  for (std::size_t row = 0; row < kRows; ++row) {
    sizes.push_back(static_cast<std::uint16_t>(row));  // 0 .. 48
    count.push_back(static_cast<std::uint32_t>(random() % 3));
    offsets.push_back(offsets.back() + count.back());
    for (std::uint32_t c = 0; c < kStride; ++c) {
      const std::size_t k = row * kStride + c;
      g[k] = std::normal_distribution<float>()(random);  // in masked columns too
      if (c >= sizes[row]) continue;
      p[k] = std::normal_distribution<float>()(random);
      m[k] = 0.1F * std::normal_distribution<float>()(random);
      v[k] = 0.01F * std::fabs(std::normal_distribution<float>()(random));
    }
  }
  const std::vector<float> p0 = p, m0 = m, v0 = v;
  AdamArgs args;
  args.parameter = p.data();
  args.moment1 = m.data();
  args.moment2 = v.data();
  args.gradient = g.data();
  args.stride = kStride;
  args.sizes = sizes.data();
  args.columns = kStride;
  args.batch_offsets = offsets.data();
  args.l2 = 0.02F;
  const StepRate rate = {0.03F / (1.0F - 0.81F), 1.0F / std::sqrt(1.0F - 0.998F)};
  const std::vector<StepRate> rates = {{}, {}, rate};  // the third step's
  StepRecord record;
  record.steps = 2;
  args.rates = rates.data();
  args.record = &record;
  const double squares = kernels().adam_rows(args, 0, kRows);
  double expected_squares = 0;
  for (std::size_t k = 0; k < p0.size(); ++k) {
    expected_squares += static_cast<double>(p0[k]) * p0[k] * count[k / kStride];
  }
  EXPECT_NEAR(squares, expected_squares, 1e-4 * expected_squares);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::uint32_t c = 0; c < kStride; ++c) {
      const std::size_t k = row * kStride + c;
      if (c >= sizes[row]) {
        ASSERT_EQ(p[k], 0.0F);
        ASSERT_EQ(m[k], 0.0F);
        ASSERT_EQ(v[k], 0.0F);
        continue;
      }
      const double gradient = g[k] + 0.02 * count[row] * p0[k];
      const double moment1 = 0.9 * m0[k] + 0.1 * gradient;
      const double moment2 = 0.999 * v0[k] + 0.001 * gradient * gradient;
      const double moved =
          p0[k] - rate.step_size * moment1 / (std::sqrt(moment2) * rate.denominator_scale + 1e-8);
      ASSERT_NEAR(m[k], moment1, 1e-6);
      ASSERT_NEAR(v[k], moment2, 1e-6);
      ASSERT_NEAR(p[k], moved, 1e-5 * (1 + std::fabs(moved)));
    }
  }
}

TEST(Kernels, TheBestSetIsUsed) {
  const std::vector<const Kernels*> sets = all_sets();
  EXPECT_EQ(&kernels(), sets.back());
  EXPECT_STREQ(sets.front()->name, "plain");
}

}  // namespace
}  // namespace bet
