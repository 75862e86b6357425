#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernels.h"

namespace bet {
namespace {

// Every instruction set of this machine.
class RankBlock : public testing::TestWithParam<const Kernels*> {};

INSTANTIATE_TEST_SUITE_P(Sets, RankBlock,
                         testing::ValuesIn(std::vector<const Kernels*>(runnable_kernels().begin,
                                                                       runnable_kernels().end)),
                         [](const auto& test) { return std::string(test.param->name); });

constexpr std::uint32_t kUsers = RankArgs::kUsers;
constexpr std::uint32_t kItems = RankArgs::kItems;
constexpr std::uint32_t kNumItems = 100;
constexpr std::uint32_t kPanels = 4;
constexpr std::uint32_t kK = 20;

struct Shape {
  std::uint32_t width, num_positive, num_negative;
};

// A block of users and the items they are to be ranked by. Small integers: scores are exact, with
// many ties, which go to the lower item.
struct RandomRanking {
  Shape shape;
  std::uint32_t depth;
  std::vector<float> items, users;  // by row
  std::vector<std::vector<std::uint32_t>> seen{kUsers};

  std::vector<float> panels, panel_norms, item_sums, block, norms;
  std::vector<std::uint32_t> panel_items;
  std::vector<const std::uint32_t*> seen_pointers;
  std::vector<std::uint32_t> seen_counts;
  std::vector<float> scores;
  std::vector<std::uint32_t> ranked;

  RandomRanking(const Shape& of, std::mt19937& random)
      : shape(of),
        depth(of.width + of.num_positive + of.num_negative),
        items(kNumItems * depth),
        users(kUsers * depth),
        panels(kPanels * depth * kItems, 0.0F),
        panel_norms(kPanels),
        item_sums(kPanels * kItems, 0.0F),
        block(depth * kUsers),
        panel_items(kPanels * kItems, ~0U),
        scores(kUsers * kK),
        ranked(kUsers * kK) {
    for (float& value : items) value = static_cast<float>(static_cast<int>(random() % 5) - 2);
    for (float& value : users) value = static_cast<float>(static_cast<int>(random() % 5) - 2);
    lay_out_items();
    for (std::uint32_t u = 0; u < kUsers; ++u) {
      norms.push_back(norm(&users[u * depth]));
      for (std::uint32_t c = 0; c < depth; ++c) block[c * kUsers + u] = users[u * depth + c];
      // The last user has seen nearly everything: its list stays short.
      for (std::uint32_t i = 0; i < kNumItems; ++i) {
        if (random() % (u == 7 ? 100 : 4) == 0 ? u != 7 : u == 7) seen[u].push_back(i);
      }
      seen_pointers.push_back(seen[u].data());
      seen_counts.push_back(static_cast<std::uint32_t>(seen[u].size()));
    }
  }

  float norm(const float* row) const {
    float sum = 0;
    for (std::uint32_t c = 0; c < shape.width; ++c) sum += row[c] * row[c];
    return std::sqrt(sum) * 1.000001F;
  }

  void lay_out_items() {
    std::vector<std::uint32_t> order(kNumItems);
    for (std::uint32_t i = 0; i < kNumItems; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return norm(&items[a * depth]) > norm(&items[b * depth]);
    });
    for (std::uint32_t i = 0; i < kNumItems; ++i) {
      const std::uint32_t panel = i / kItems;
      const float* const row = &items[order[i] * depth];
      panel_items[i] = order[i];
      if (i % kItems == 0) panel_norms[panel] = norm(row);
      for (std::uint32_t c = 0; c < depth; ++c) {
        panels[(panel * depth + c) * kItems + i % kItems] = c < shape.width ? row[c] : -row[c];
        if (c >= shape.width) {
          item_sums[i] += c < shape.width + shape.num_positive ? row[c] : -row[c];
        }
      }
    }
  }

  RankArgs args() {
    RankArgs args;
    args.width = shape.width;
    args.users = block.data();
    args.user_norms = norms.data();
    args.panels = panels.data();
    args.panel_norms = panel_norms.data();
    args.items = panel_items.data();
    args.num_panels = kPanels;
    args.seen = seen_pointers.data();
    args.seen_count = seen_counts.data();
    args.k = kK;
    args.scores = scores.data();
    args.ranked = ranked.data();
    args.num_positive = shape.num_positive;
    args.num_negative = shape.num_negative;
    args.item_sums = item_sums.data();
    return args;
  }

  float score(std::uint32_t user, std::uint32_t item) const {
    float sum = 0;
    for (std::uint32_t c = 0; c < depth; ++c) {
      const float u = users[user * depth + c];
      const float v = items[item * depth + c];
      const float on = std::max(u + v, 0.0F);
      sum += c < shape.width ? u * v : c < shape.width + shape.num_positive ? on : -on;
    }
    return sum;
  }

  // The obvious twin.
  void expect_sorted_lists() const {
    for (std::uint32_t u = 0; u < kUsers; ++u) {
      std::vector<std::pair<float, std::uint32_t>> expected;
      for (std::uint32_t i = 0; i < kNumItems; ++i) {
        if (!std::binary_search(seen[u].begin(), seen[u].end(), i)) {
          expected.emplace_back(-score(u, i), i);
        }
      }
      std::sort(expected.begin(), expected.end());
      expected.resize(kK, {std::numeric_limits<float>::infinity(), ~0U});
      for (std::uint32_t position = 0; position < kK; ++position) {
        ASSERT_EQ(ranked[u * kK + position], expected[position].second) << "user " << u;
        ASSERT_EQ(scores[u * kK + position], -expected[position].first);
      }
    }
  }
};

constexpr Shape kShapes[] = {{5, 0, 0}, {5, 3, 4}, {0, 6, 0}, {0, 0, 3}, {8, 0, 7}, {3, 17, 18}};

TEST_P(RankBlock, IsTheSortedList) {
  std::mt19937 random(5);
  for (const Shape& shape : kShapes) {
    for (int round = 0; round < 30; ++round) {
      RandomRanking ranking(shape, random);
      GetParam()->rank_block(ranking.args());
      ranking.expect_sorted_lists();
    }
  }
}

TEST_P(RankBlock, ContinuesWhereACallEnded) {
  std::mt19937 random(6);
  for (const Shape& shape : kShapes) {
    RandomRanking ranking(shape, random);
    RankArgs args = ranking.args();
    for (args.num_panels = 1; args.num_panels <= kPanels; ++args.num_panels) {
      GetParam()->rank_block(args);
      args.first_panel = args.num_panels;
    }
    ranking.expect_sorted_lists();
  }
}

}  // namespace
}  // namespace bet
