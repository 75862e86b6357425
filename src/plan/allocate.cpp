#include "plan/allocate.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "base/error.h"

namespace bet {
namespace {

// Values below this fraction of the largest count as zero, which keeps lambda a finite double.
constexpr double kTiny = 0x1p-900;

// Sums clip(lambda * value, min_dim, max_dim) over descending values in two binary searches, by
// means of suffix sums. They are summed from the small end because values may span hundreds of
// powers of two: the difference of two such sums never loses its largest term.
class ClippedSum {
 public:
  ClippedSum(std::span<const double> values, double min_dim, double max_dim)
      : values_(values), min_dim_(min_dim), max_dim_(max_dim), suffix_sum_(values.size() + 1, 0.0) {
    for (std::size_t i = values.size(); i-- > 0;) suffix_sum_[i] = suffix_sum_[i + 1] + values[i];
  }

  double operator()(double lambda) const {
    const std::size_t full = count_at_least(max_dim_ / lambda, 0);
    const std::size_t above = count_at_least(min_dim_ / lambda, full);
    return max_dim_ * static_cast<double>(full) +
           lambda * (suffix_sum_[full] - suffix_sum_[above]) +
           min_dim_ * static_cast<double>(values_.size() - above);
  }

 private:
  std::size_t count_at_least(double bound, std::size_t from) const {
    const auto it = std::partition_point(values_.begin() + static_cast<std::ptrdiff_t>(from),
                                         values_.end(), [&](double v) { return v >= bound; });
    return static_cast<std::size_t>(it - values_.begin());
  }

  std::span<const double> values_;
  double min_dim_;
  double max_dim_;
  std::vector<double> suffix_sum_;  // [i]: sum of values_[i ..]
};

// The largest lambda = 2^x whose clipped sum does not exceed the total, by bisection over the
// exponent.
double find_lambda(const ClippedSum& sum, double total) {
  double low = -1100.0;
  double high = 1000.0;
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    if (sum(std::exp2(middle)) <= total) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return std::exp2(low);
}

// Adds one to the `left` rows with the largest fractions, earlier rows first among equals. Rows
// with a negative fraction get nothing. Counting by bucket finds the limit; only the bucket that it
// falls into is sorted.
void give_remainder(std::span<std::uint16_t> sizes, std::span<const float> fractions,
                    std::uint64_t left) {
  constexpr std::size_t kBuckets = 1024;
  const auto bucket_of = [](float fraction) {
    return std::min(static_cast<std::size_t>(fraction * kBuckets), kBuckets - 1);
  };
  std::array<std::uint64_t, kBuckets> count{};
  for (const float fraction : fractions) {
    if (fraction >= 0) ++count[bucket_of(fraction)];
  }
  std::size_t bucket = kBuckets;
  while (left > 0 && bucket > 0 && count[bucket - 1] <= left) left -= count[--bucket];
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (fractions[i] >= 0 && bucket_of(fractions[i]) >= bucket) ++sizes[i];
  }
  if (left == 0) return;
  assert(bucket > 0);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (fractions[i] >= 0 && bucket_of(fractions[i]) == bucket - 1) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return fractions[a] > fractions[b]; });
  for (std::uint64_t i = 0; i < left; ++i) ++sizes[rows[i]];
}

// For values that are all positive and a total within their reach.
void allocate_positive(std::span<const double> values, std::uint64_t total, std::uint32_t min_dim,
                       std::uint32_t max_dim, std::span<std::uint16_t> sizes) {
  if (values.empty()) return;
  const ClippedSum sum(values, min_dim, max_dim);
  const double lambda = find_lambda(sum, static_cast<double>(total));
  std::vector<float> fractions(values.size());
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size = std::clamp<double>(lambda * values[i], min_dim, max_dim);
    const auto whole = static_cast<std::uint32_t>(size);
    sizes[i] = static_cast<std::uint16_t>(whole);
    given += whole;
    // A full row can take no more.
    fractions[i] = whole == max_dim ? -1.0F : static_cast<float>(size - whole);
  }
  assert(given <= total && total - given <= values.size());
  give_remainder(sizes, fractions, total - given);
}

}  // namespace

std::vector<std::uint16_t> allocate_sizes(std::span<const double> values, std::uint64_t total,
                                          std::uint32_t min_dim, std::uint32_t max_dim) {
  const std::uint64_t count = values.size();
  BET_CHECK(min_dim <= max_dim && max_dim <= 0xffff && count * min_dim <= total &&
                total <= count * max_dim,
            "cannot allocate ", total, " parameters to ", count, " rows of sizes ", min_dim, " to ",
            max_dim);
  std::vector<std::uint16_t> sizes(count);
  if (count == 0) return sizes;
  const double largest = values[0];
  BET_CHECK(std::isfinite(largest) && largest >= 0, "the largest value of a size distribution is ",
            largest);
  // Relative to the largest, so that nothing overflows.
  std::vector<double> scaled(count, 1.0);
  std::size_t positive = count;
  if (largest > 0) {
    for (std::size_t i = 0; i < count; ++i) scaled[i] = values[i] / largest;
    positive = static_cast<std::size_t>(
        std::partition_point(scaled.begin(), scaled.end(), [](double v) { return v >= kTiny; }) -
        scaled.begin());
  }
  // However large lambda is, zeros stay at min_dim; what the others cannot take is divided equally
  // among them.
  const std::uint64_t zeros = count - positive;
  const std::uint64_t for_positive =
      std::min<std::uint64_t>(total - zeros * min_dim, positive * max_dim);
  const std::span<std::uint16_t> all(sizes);
  allocate_positive(std::span(scaled).first(positive), for_positive, min_dim, max_dim,
                    all.first(positive));
  const std::vector<double> equal(zeros, 1.0);
  allocate_positive(equal, total - for_positive, min_dim, max_dim, all.subspan(positive));
  return sizes;
}

}  // namespace bet
