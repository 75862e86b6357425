#include "kernels/neumf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace bet {
namespace {

// Every instruction set of this machine.
class NeuMf : public testing::TestWithParam<const Kernels*> {
 protected:
  void run(const NeuMfArgs& args, std::size_t begin, std::size_t end) const {
    (args.pool == 1 ? GetParam()->neumf_pairs : GetParam()->neumf_pools)(args, begin, end);
  }
};

INSTANTIATE_TEST_SUITE_P(Sets, NeuMf,
                         testing::ValuesIn(std::vector<const Kernels*>(runnable_kernels().begin,
                                                                       runnable_kernels().end)),
                         [](const auto& test) { return std::string(test.param->name); });

struct Shape {
  std::uint32_t num_products, num_hidden;
};

// A batch over random vectors with a head of all signs, zeros among them. Hidden values are small
// multiples of a quarter: many sums are exactly zero, where the slope is.
struct RandomBatch {
  static constexpr std::uint32_t kRows = 150;
  Shape shape;
  std::uint32_t columns, stride, size, pool;
  std::vector<float> vectors, head;
  std::vector<std::uint32_t> rows, seen_mask;
  std::vector<float> loss, contributions, head_gradient, scratch;
  LossKind kind = LossKind::kBpr;
  float temperature = 0.7F;  // of the softmax

  RandomBatch(const Shape& wide, std::uint32_t entries, std::uint32_t negatives,
              std::mt19937& random)
      : shape(wide),
        columns(wide.num_products + wide.num_hidden),
        stride(row_stride(columns)),
        size(entries),
        pool(negatives),
        vectors(std::size_t{kRows} * stride, 0.0F),
        head(columns),
        seen_mask(entries),
        loss(entries, -99.0F),
        head_gradient(columns, -99.0F),
        scratch(pool_scratch(negatives, columns), -99.0F) {
    std::normal_distribution<float> normal(0, 0.6F);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::uint32_t c = 0; c < columns; ++c) {
        vectors[row * stride + c] =
            c < shape.num_products ? normal(random)
                                   : 0.25F * static_cast<float>(static_cast<int>(random() % 9) - 4);
      }
    }
    for (float& weight : head) weight = random() % 4 == 0 ? 0.0F : normal(random);
    const std::uint32_t num_slots = 2 * size + (size + pool - 1) / pool * pool;
    for (std::uint32_t i = 0; i < num_slots; ++i) {
      rows.push_back(static_cast<std::uint32_t>(random() % kRows));
    }
    for (std::uint32_t& bits : seen_mask) bits = static_cast<std::uint32_t>(random() & random());
    contributions.assign(std::size_t{num_slots} * stride, -99.0F);
  }

  NeuMfArgs args() {
    NeuMfArgs args;
    args.vectors = vectors.data();
    args.stride = stride;
    args.num_products = shape.num_products;
    args.num_hidden = shape.num_hidden;
    args.head = head.data();
    args.rows = rows.data();
    args.seen_mask = seen_mask.data();
    args.size = size;
    args.pool = pool;
    args.kind = kind;
    args.temperature = temperature;
    args.scratch = scratch.data();
    args.loss = loss.data();
    args.contributions = contributions.data();
    args.head_gradient = head_gradient.data();
    return args;
  }

  double at(std::size_t slot, std::uint32_t c) const { return vectors[rows[slot] * stride + c]; }
  // A column's term without its head.
  double term(std::size_t user, std::size_t item, std::uint32_t c) const {
    return c < shape.num_products ? at(user, c) * at(item, c)
                                  : std::max(at(user, c) + at(item, c), 0.0);
  }
  // Its slope for the value at `slot`, the other being at `other`.
  double slope(std::size_t slot, std::size_t other, std::uint32_t c) const {
    if (c < shape.num_products) return at(other, c);
    return at(slot, c) + at(other, c) > 0 ? 1.0 : 0.0;
  }

  // Whether an entry's k-th negative counts.
  bool counts(std::size_t entry, std::uint32_t k) const {
    return pool == 1 || (seen_mask[entry] >> k & 1) == 0;
  }

  // The obvious twin, in double.
  void expect_terms() const {
    std::vector<double> expected(contributions.size(), 0.0);
    std::vector<double> expected_head(columns, 0.0);
    for (std::size_t e = 0; e < size; ++e) {
      const std::size_t i = size + e;
      const std::size_t first = 2 * std::size_t{size} + e / pool * pool;
      std::vector<double> x(pool);  // what the positive's score is above the negatives'
      double all = 1;
      for (std::uint32_t k = 0; k < pool; ++k) {
        for (std::uint32_t c = 0; c < columns; ++c) {
          x[k] += head[c] * (term(e, i, c) - term(e, first + k, c));
        }
        if (counts(e, k)) all += std::exp(-x[k] / temperature);
      }
      const bool softmax = kind == LossKind::kSoftmax;
      double sum = softmax ? pool * std::log(all) : 0.0;
      for (std::uint32_t k = 0; k < pool; ++k) {
        if (!counts(e, k)) continue;
        const std::size_t j = first + k;
        if (!softmax) {
          sum += x[k] > 0 ? std::log1p(std::exp(-x[k])) : -x[k] + std::log1p(std::exp(x[k]));
        }
        const double pull = softmax ? std::exp(-x[k] / temperature) / all / temperature / size
                                    : 1.0 / (1.0 + std::exp(x[k])) / size / pool;
        for (std::uint32_t c = 0; c < columns; ++c) {
          expected[e * stride + c] += pull * head[c] * (slope(e, j, c) - slope(e, i, c));
          expected[i * stride + c] -= pull * head[c] * slope(i, e, c);
          expected[j * stride + c] += pull * head[c] * slope(j, e, c);
          expected_head[c] += pull * (term(e, j, c) - term(e, i, c));
        }
      }
      EXPECT_NEAR(loss[e], sum / pool, 1e-5 * (1 + sum / pool)) << "entry " << e;
    }
    for (std::size_t k = 0; k < expected.size(); ++k) {  // zero behind the last column
      ASSERT_NEAR(contributions[k], expected[k], 1e-5 / size + 1e-6 * std::fabs(expected[k]))
          << columns << " columns, slot " << k / stride << " column " << k % stride;
    }
    for (std::uint32_t c = 0; c < columns; ++c) {
      ASSERT_NEAR(head_gradient[c], expected_head[c], 1e-5) << "head of column " << c;
    }
  }
};

constexpr Shape kShapes[] = {{8, 8}, {16, 24}, {40, 16}, {0, 32}, {8, 0}, {136, 128}, {24, 304}};

TEST_P(NeuMf, PairsAreSoftplusAndItsGradient) {
  std::mt19937 random(3);
  for (const Shape& shape : kShapes) {
    RandomBatch batch(shape, 51, 1, random);
    run(batch.args(), 0, 51);
    batch.expect_terms();
  }
}

TEST_P(NeuMf, PoolsGiveBothLossesAndTheirGradients) {
  std::mt19937 random(4);
  for (const LossKind kind : {LossKind::kBpr, LossKind::kSoftmax}) {
    for (const Shape& shape : kShapes) {
      for (const std::uint32_t size : {64U, 70U, 5U}) {  // whole blocks, a rest, less than one
        RandomBatch batch(shape, size, kPool, random);
        batch.kind = kind;
        run(batch.args(), 0, (size + kPool - 1) / kPool);
        batch.expect_terms();
      }
    }
  }
}

TEST_P(NeuMf, AHeadOfZerosMovesNothingButItself) {
  std::mt19937 random(5);
  for (const std::uint32_t pool : {1U, kPool}) {
    RandomBatch batch({16, 16}, 40, pool, random);
    std::fill(batch.head.begin(), batch.head.end(), 0.0F);
    run(batch.args(), 0, (40 + pool - 1) / pool);
    batch.expect_terms();
    for (const float value : batch.contributions) ASSERT_EQ(value, 0.0F);
  }
}

// Whoever runs parts of a batch adds up what they say of the head; the rest must not depend on it.
TEST_P(NeuMf, PartsAddUpToTheWhole) {
  std::mt19937 random(6);
  for (const std::uint32_t pool : {1U, kPool}) {
    RandomBatch whole({16, 40}, 100, pool, random);
    RandomBatch parts = whole;
    const std::size_t count = (100 + pool - 1) / pool;
    run(whole.args(), 0, count);
    std::vector<float> sum(parts.columns, 0.0F);
    for (std::size_t begin = 0; begin < count; ++begin) {
      run(parts.args(), begin, begin + 1);
      for (std::uint32_t c = 0; c < parts.columns; ++c) sum[c] += parts.head_gradient[c];
    }
    EXPECT_EQ(parts.loss, whole.loss);
    EXPECT_EQ(parts.contributions, whole.contributions);
    for (std::uint32_t c = 0; c < parts.columns; ++c) {
      EXPECT_NEAR(sum[c], whole.head_gradient[c], 1e-6);
    }
  }
}

// Each column of each side of a pair alone.
TEST_P(NeuMf, WhatIsNoNumberIsNotHidden) {
  std::mt19937 random(7);
  for (const std::uint32_t pool : {1U, kPool}) {
    for (const std::uint32_t column : {3U, 20U}) {     // a product, a hidden unit
      for (const std::uint32_t part : {0U, 1U, 2U}) {  // user, positive, negative
        RandomBatch batch({16, 16}, 32, pool, random);
        std::fill(batch.seen_mask.begin(), batch.seen_mask.end(), 0U);
        batch.vectors[batch.rows[part * 32 + 3] * batch.stride + column] =
            std::numeric_limits<float>::quiet_NaN();
        run(batch.args(), 0, 32 / pool);
        EXPECT_TRUE(std::isnan(batch.loss[3])) << "pool " << pool << " part " << part;
      }
    }
  }
}

}  // namespace
}  // namespace bet
