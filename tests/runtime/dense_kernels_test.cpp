#include "runtime/dense_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/toy_model.h"

namespace bet {
namespace {

std::vector<float> random_values(std::size_t count, test::Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 20'001) / 10'000.0F - 1.0F;
  return values;
}

TEST(DenseKernels, PlainIsAlwaysThereAndTheBestIsTheLast) {
  ASSERT_GE(num_dense_kernels(), 1U);
  EXPECT_STREQ(dense_kernels(0).name, "plain");
  EXPECT_STREQ(dense_kernels().name, dense_kernels(num_dense_kernels() - 1).name);
}

void expect_product(std::uint32_t count, std::uint32_t inputs, std::uint32_t outputs, bool bias) {
  test::Random random(inputs * 1000 + outputs);
  const std::vector<float> weights = random_values(std::size_t{inputs} * outputs, random);
  const std::vector<float> biases = random_values(outputs, random);
  const std::vector<float> in = random_values(std::size_t{count} * inputs, random);
  for (std::size_t i = 0; i < num_dense_kernels(); ++i) {
    SCOPED_TRACE(testing::Message()
                 << dense_kernels(i).name << ' ' << count << " x " << inputs << " x " << outputs);
    std::vector<float> out(std::size_t{count} * outputs, 9.0F);
    dense_kernels(i).product({weights.data(), bias ? biases.data() : nullptr, inputs, outputs},
                             in.data(), count, out.data());
    for (std::uint32_t row = 0; row < count; ++row) {
      for (std::uint32_t j = 0; j < outputs; ++j) {
        double expected = bias ? biases[j] : 0;
        double terms = std::abs(expected);
        for (std::uint32_t k = 0; k < inputs; ++k) {
          const double term = double{in[row * inputs + k]} * weights[k * outputs + j];
          expected += term;
          terms += std::abs(term);
        }
        ASSERT_NEAR(out[row * outputs + j], expected, 2e-6 * terms) << row << ' ' << j;
      }
    }
  }
}

TEST(DenseKernels, ProductsAreThoseOfTheObviousLoop) {
  for (const std::uint32_t count : {0U, 1U, 5U, 6U, 7U, 13U}) {
    for (const std::uint32_t inputs : {0U, 1U, 3U, 40U}) {
      for (const std::uint32_t outputs : {1U, 7U, 8U, 9U, 16U, 31U, 32U, 33U, 100U}) {
        expect_product(count, inputs, outputs, outputs % 2 == 0);
      }
    }
  }
  expect_product(48, 256, 128, true);
}

TEST(DenseKernels, AddIsThatOfTheObviousLoop) {
  test::Random random(2);
  for (std::uint32_t size = 0; size <= 70; ++size) {
    const std::vector<float> row = random_values(size, random);
    const std::vector<float> before = random_values(size, random);
    for (std::size_t i = 0; i < num_dense_kernels(); ++i) {
      std::vector<float> sum = before;
      dense_kernels(i).add(row.data(), size, sum.data());
      for (std::uint32_t j = 0; j < size; ++j) ASSERT_EQ(sum[j], before[j] + row[j]);
    }
  }
}

TEST(DenseKernels, HiddenUnitsAreThoseOfTheObviousLoop) {
  test::Random random(3);
  for (const std::uint32_t units : {0U, 1U, 2U, 7U, 16U, 33U, 128U, 130U}) {
    for (const std::uint32_t positive : {0U, units / 3, units}) {
      for (const std::uint32_t count : {0U, 1U, 5U}) {
        const std::vector<float> items = random_values(std::size_t{count} * units, random);
        const std::vector<float> user = random_values(units, random);
        for (std::size_t i = 0; i < num_dense_kernels(); ++i) {
          std::vector<float> out(count, 0.5F);
          dense_kernels(i).hidden({items.data(), count, units, positive}, user.data(), out.data());
          for (std::uint32_t item = 0; item < count; ++item) {
            double expected = 0.5;
            double terms = 0.5;
            for (std::uint32_t h = 0; h < units; ++h) {
              const double unit = std::max(double{user[h]} + items[item * units + h], 0.0);
              expected += h < positive ? unit : -unit;
              terms += unit;
            }
            ASSERT_NEAR(out[item], expected, 2e-6 * terms)
                << dense_kernels(i).name << ' ' << units << ' ' << positive;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace bet
