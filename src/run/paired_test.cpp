#include "run/paired_test.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace bet {
namespace {

// The continued fraction of the incomplete beta function by Lentz's method; converges fast for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 10'000;
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-15;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double twice = 2 * m;
    const auto multiply = [&](double term) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      fraction *= c * d;
    };
    multiply(m * (b - m) * x / ((a + twice - 1) * (a + twice)));
    multiply(-(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1)));
    if (std::abs(c * d - 1) < kEnough) break;
  }
  return fraction;
}

// The regularised incomplete beta function, with `y` = 1 - x, which the caller may know better.
double regularised_beta(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(y));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, y) / b;
}

double mean_of_values(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// In eight sums, which the compiler can keep in a vector.
double dot(std::span<const double> a, std::span<const double> b) {
  std::array<double, 8> sums{};
  const std::size_t whole = a.size() / sums.size() * sums.size();
  for (std::size_t i = 0; i < whole; i += sums.size()) {
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += a[i + j] * b[i + j];
  }
  double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (std::size_t i = whole; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double two_sided_p(double t, double degrees) {
  if (std::isinf(t)) return 0;
  const double square = t * t;
  return regularised_beta(degrees / 2, 0.5, degrees / (degrees + square),
                          square / (degrees + square));
}

PairedTest paired_test(std::span<const double> one, std::span<const double> other) {
  assert(one.size() == other.size());
  PairedTest test;
  if (one.empty()) return test;
  test.mean = mean_of_values(one);
  test.other_mean = mean_of_values(other);
  const auto users = static_cast<double>(one.size());
  for (std::size_t i = 0; i < one.size(); ++i) test.difference += (one[i] - other[i]) / users;
  if (one.size() < 2) return test;
  double squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double away = one[i] - other[i] - test.difference;
    squares += away * away;
  }
  const double deviation = std::sqrt(squares / (users - 1));
  if (deviation == 0) {
    if (test.difference == 0) return test;
    test.effect = std::copysign(std::numeric_limits<double>::infinity(), test.difference);
  } else {
    test.effect = test.difference / deviation;
  }
  test.t = test.effect * std::sqrt(users);
  test.p = two_sided_p(test.t, users - 1);
  return test;
}

std::vector<BootstrapInterval> bootstrap_means(std::span<const std::vector<double>> series,
                                               std::uint64_t seed) {
  std::vector<BootstrapInterval> intervals(series.size());
  if (series.empty() || series[0].empty()) return intervals;
  const std::size_t users = series[0].size();
  std::vector<std::vector<double>> means(series.size());
  std::vector<double> drawn(users);  // how often, in this resample
  for (std::uint32_t sample = 0; sample < kResamples; ++sample) {
    std::ranges::fill(drawn, 0.0);
    RandomStream random(seed, "bootstrap", sample);
    for (std::size_t i = 0; i < users; ++i) {
      drawn[random.below(static_cast<std::uint32_t>(users))] += 1;
    }
    for (std::size_t s = 0; s < series.size(); ++s) {
      assert(series[s].size() == users);
      means[s].push_back(dot(drawn, series[s]) / static_cast<double>(users));
    }
  }
  constexpr std::size_t kOutside = kResamples / 40;  // on either side
  for (std::size_t s = 0; s < series.size(); ++s) {
    std::ranges::sort(means[s]);
    intervals[s] = {means[s][kOutside], means[s][kResamples - 1 - kOutside]};
  }
  return intervals;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(p.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p[order[rank]]));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

}  // namespace bet
