#include "runtime/top_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "runtime/toy_model.h"

namespace bet {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::uint32_t> rows_of(const std::vector<RankedItem>& items) {
  std::vector<std::uint32_t> rows;
  for (const RankedItem& item : items) rows.push_back(item.row);
  return rows;
}

std::vector<std::uint32_t> by_sorting(const std::vector<float>& scores, std::size_t k,
                                      const std::vector<std::uint32_t>& left_out,
                                      float min_score = -kInfinity) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < scores.size(); ++row) {
    if (scores[row] >= min_score && !std::binary_search(left_out.begin(), left_out.end(), row)) {
      rows.push_back(row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
  rows.resize(std::min(k, rows.size()));
  return rows;
}

TEST(TopItems, AreThoseOfASort) {
  test::Random random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<float> scores(random() % 40);
    const std::uint32_t different = 1 + random() % 30;  // few: many ties
    for (float& score : scores) {
      score = static_cast<float>(random() % different) - 10.0F;
      const std::uint32_t special = random() % 20;
      if (special == 0) score = kNan;
      if (special == 1) score = random() % 2 == 0 ? kInfinity : -kInfinity;
    }
    std::vector<std::uint32_t> left_out;
    for (std::uint32_t row = 0; row < scores.size() + 2; ++row) {
      if (random() % 4 == 0) left_out.insert(left_out.end(), 1 + random() % 2, row);
    }
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{random() % 50},
                                scores.size(), std::numeric_limits<std::size_t>::max()}) {
      const std::vector<RankedItem> best = top_items(scores, k, left_out);
      ASSERT_EQ(rows_of(best), by_sorting(scores, k, left_out)) << round << ' ' << k;
      for (const RankedItem& item : best) ASSERT_EQ(item.score, scores[item.row]);
      const float least = static_cast<float>(random() % different) - 10.0F;
      ASSERT_EQ(rows_of(top_items(scores, k, left_out, least)),
                by_sorting(scores, k, left_out, least))
          << round << ' ' << k;
    }
  }
}

TEST(TopItems, NothingToChooseFrom) {
  const std::vector<float> nan(5, kNan);
  EXPECT_TRUE(top_items({}, 3, {}).empty());
  EXPECT_TRUE(top_items(nan, 3, {}).empty());
  const std::vector<float> one = {1};
  const std::vector<std::uint32_t> left_out = {0};
  EXPECT_TRUE(top_items(one, 3, left_out).empty());
}

TEST(TopItems, LowerRowsFirstAmongEquals) {
  const std::vector<float> scores = {1, 2, 1, 2, 0.0F, -0.0F};
  EXPECT_EQ(rows_of(top_items(scores, 6, {})), (std::vector<std::uint32_t>{1, 3, 0, 2, 4, 5}));
  EXPECT_EQ(rows_of(top_items(scores, 3, {})), (std::vector<std::uint32_t>{1, 3, 0}));
}

}  // namespace
}  // namespace bet
