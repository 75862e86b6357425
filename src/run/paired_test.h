#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bet {

// Paired statistics: two methods measured on the same users.

// The probability that |T| >= |t| under Student's t distribution of so many degrees of freedom (at
// least 1): the p-value of a two-sided test.
double two_sided_p(double t, double degrees);

struct PairedTest {
  double mean = 0;        // of the one
  double other_mean = 0;  // of the other
  double difference = 0;  // mean over users of the one's value minus the other's
  double effect = 0;      // Cohen's d: the difference in units of its standard deviation over users
  double t = 0;           // of the paired t-test,
  double p = 1;           // two-sided
};

// By user, in the same order; as many of each. Where all differences are the same, the effect is 0
// and p is 1 if that is 0, else both are infinite and p is 0. A single user tells nothing: p is 1.
PairedTest paired_test(std::span<const double> one, std::span<const double> other);

// The middle 95 % of the means of resamples.
struct BootstrapInterval {
  double low = 0;
  double high = 0;
};

constexpr std::uint32_t kResamples = 2000;

// Percentile bootstrap over users: draws as many users as there are, with replacement, and takes
// the mean of each series over them. All series are of the same users and share the draws.
std::vector<BootstrapInterval> bootstrap_means(std::span<const std::vector<double>> series,
                                               std::uint64_t seed);

// Holm's correction of p-values that are read together: a p below 0.05 after it keeps the
// probability of a single false finding among all of them below 5 %. In the order of `p`.
std::vector<double> holm(std::span<const double> p);

}  // namespace bet
