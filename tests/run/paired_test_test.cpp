#include "run/paired_test.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace bet {
namespace {

// 2 * scipy.stats.t.sf(abs(t), degrees), scipy 1.10.1.
TEST(PairedTest, HasThePValuesOfScipy) {
  struct Known {
    double t;
    double degrees;
    double p;
  };
  for (const Known& known :
       {Known{0, 5, 1}, Known{1, 1, 0.49999999999999956}, Known{2, 3, 0.1393259685588431},
        Known{-2.5, 10, 0.031446844236608776}, Known{0.1, 2, 0.9294654384141402},
        Known{3.3, 100, 0.0013406195219600953}, Known{1.96, 29857, 0.05000507764226454},
        Known{5, 29857, 5.765471668348089e-07}, Known{12, 29857, 4.234441239933823e-33}}) {
    EXPECT_NEAR(two_sided_p(known.t, known.degrees) / known.p, 1, 1e-9)
        << known.t << " with " << known.degrees;
  }
}

// scipy.stats.ttest_rel(a, b); the means and the deviation by hand.
TEST(PairedTest, IsThatOfScipyOnEightUsers) {
  const std::vector<double> a = {0.30, 0.10, 0.55, 0.20, 0.75, 0.05, 0.40, 0.65};
  const std::vector<double> b = {0.25, 0.15, 0.40, 0.20, 0.60, 0.10, 0.35, 0.50};
  const PairedTest test = paired_test(a, b);
  EXPECT_NEAR(test.mean, 3.0 / 8, 1e-15);
  EXPECT_NEAR(test.other_mean, 2.55 / 8, 1e-15);
  EXPECT_NEAR(test.difference, 0.45 / 8, 1e-15);
  EXPECT_NEAR(test.effect, 0.05625 / 0.08634441002668988, 1e-12);
  EXPECT_NEAR(test.t, 1.8426094488084894, 1e-12);
  EXPECT_NEAR(test.p, 0.10793106535346585, 1e-12);
  const PairedTest turned = paired_test(b, a);
  EXPECT_NEAR(turned.t, -test.t, 1e-12);
  EXPECT_NEAR(turned.p, test.p, 1e-15);
}

TEST(PairedTest, SaysNothingOfEqualValuesAndOfOneUser) {
  const std::vector<double> a = {0.5, 0.25, 0.75};
  EXPECT_EQ(paired_test(a, a).p, 1);
  EXPECT_EQ(paired_test(a, a).effect, 0);
  const std::vector<double> b = {0.25, 0, 0.5};
  EXPECT_EQ(paired_test(a, b).p, 0);
  EXPECT_TRUE(std::isinf(paired_test(a, b).effect));
  EXPECT_EQ(paired_test(std::span(a).first(1), std::span(b).first(1)).p, 1);
}

TEST(Bootstrap, HasTheIntervalOfTheMean) {
  constexpr std::size_t kUsers = 1000;
  std::vector<std::vector<double>> series(3, std::vector<double>(kUsers));
  RandomStream random(7, "test");
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < kUsers; ++i) {
    series[0][i] = 0.1 + random.normal();
    series[1][i] = -2 * series[0][i];
    series[2][i] = 3;
    sum += series[0][i];
    squares += series[0][i] * series[0][i];
  }
  const double mean = sum / kUsers;
  const double error = std::sqrt((squares / kUsers - mean * mean) / kUsers);
  const std::vector<BootstrapInterval> intervals = bootstrap_means(series, 1);
  // The percentiles of 2,000 resamples are known to about a tenth of a standard error.
  EXPECT_NEAR(intervals[0].low, mean - 1.96 * error, 0.2 * error);
  EXPECT_NEAR(intervals[0].high, mean + 1.96 * error, 0.2 * error);
  EXPECT_NEAR(intervals[1].low, -2 * intervals[0].high, 1e-12) << "all series have the same draws";
  EXPECT_DOUBLE_EQ(intervals[2].low, 3);
  EXPECT_DOUBLE_EQ(intervals[2].high, 3);
  EXPECT_EQ(bootstrap_means(series, 1)[0].low, intervals[0].low);
  EXPECT_NE(bootstrap_means(series, 2)[0].low, intervals[0].low);
}

// By hand: 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1 may not be below the one before.
TEST(Holm, CorrectsFromTheSmallestOn) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> corrected = holm(p);
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(corrected[i], expected[i], 1e-15);
  EXPECT_EQ(holm(std::vector<double>{0.6, 0.7}), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace bet
