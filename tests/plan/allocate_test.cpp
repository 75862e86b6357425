#include "plan/allocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "support/expect_error.h"

namespace bet {
namespace {

using Sizes = std::vector<std::uint16_t>;

TEST(AllocateSizes, FloorsAndGivesTheRestByLargestFraction) {
  // lambda = 1: 5.7 + 2.6 + 1.7 = 10; floors 5, 2, 1 leave 2 for the fractions .7 and .7.
  EXPECT_EQ(allocate_sizes(std::vector<double>{5.7, 2.6, 1.7}, 10, 1, 128), (Sizes{6, 2, 2}));
  // All equal: the earlier rows get what is left.
  EXPECT_EQ(allocate_sizes(std::vector<double>{1, 1, 1}, 11, 1, 128), (Sizes{4, 4, 3}));
}

TEST(AllocateSizes, ClipsAndSharesTheRestInProportion) {
  EXPECT_EQ(allocate_sizes(std::vector<double>{1000, 2, 1}, 17, 1, 8), (Sizes{8, 6, 3}));
  EXPECT_EQ(allocate_sizes(std::vector<double>{1000, 1, 1}, 5, 1, 8), (Sizes{3, 1, 1}));
}

TEST(AllocateSizes, ZerosTakeWhatTheOthersCannot) {
  EXPECT_EQ(allocate_sizes(std::vector<double>{1, 0, 0}, 12, 1, 8), (Sizes{8, 2, 2}));
  EXPECT_EQ(allocate_sizes(std::vector<double>{0, 0, 0}, 7, 1, 8), (Sizes{3, 2, 2}));
  EXPECT_EQ(allocate_sizes(std::vector<double>{1e-300, 1e-310, 0}, 10, 0, 8), (Sizes{8, 2, 0}));
}

TEST(AllocateSizes, RefusesTotalsOutOfReach) {
  EXPECT_THROW(allocate_sizes(std::vector<double>{1, 1}, 1, 1, 8), Error);
  EXPECT_THROW(allocate_sizes(std::vector<double>{1, 1}, 17, 1, 8), Error);
  EXPECT_TRUE(allocate_sizes(std::vector<double>{}, 0, 1, 8).empty());
}

// The plain implementation to compare with: lambda by bisection over full sums, fractions by a full
// sort.
Sizes allocate_plainly(const std::vector<double>& values, std::uint64_t total, double min_dim,
                       double max_dim) {
  const auto sizes_at = [&](double lambda) {
    std::vector<double> sizes;
    for (const double value : values) sizes.push_back(std::clamp(lambda * value, min_dim, max_dim));
    return sizes;
  };
  double low = 0;
  double high = 1e12;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    const std::vector<double> sizes = sizes_at(middle);
    const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    (sum <= static_cast<double>(total) ? low : high) = middle;
  }
  const std::vector<double> exact = sizes_at(low);
  Sizes sizes;
  for (const double size : exact) sizes.push_back(static_cast<std::uint16_t>(size));
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return exact[a] - std::floor(exact[a]) > exact[b] - std::floor(exact[b]);
  });
  std::uint64_t left = total - std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  for (std::size_t i = 0; left > 0; ++i) {
    if (sizes[order[i]] >= max_dim) continue;
    ++sizes[order[i]];
    --left;
  }
  return sizes;
}

TEST(AllocateSizes, EqualsThePlainWay) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::size_t count = 1 + random() % 40;
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(std::exp(3.0 * std::normal_distribution<double>()(random)));
    }
    std::sort(values.rbegin(), values.rend());
    const std::uint64_t total = count + random() % (15 * count + 1);
    ASSERT_EQ(allocate_sizes(values, total, 1, 16), allocate_plainly(values, total, 1, 16))
        << "round " << round;
  }
}

}  // namespace
}  // namespace bet
