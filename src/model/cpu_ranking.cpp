#include "model/cpu_ranking.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "kernels/kernels.h"
#include "model/tensor_pointers.h"

namespace bet {
namespace {

constexpr std::uint32_t kUsers = RankArgs::kUsers;
constexpr std::uint32_t kItems = RankArgs::kItems;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

double norm_of(const float* row, std::uint32_t width) {
  double sum = 0;
  for (std::uint32_t c = 0; c < width; ++c) sum += static_cast<double>(row[c]) * row[c];
  return std::sqrt(sum);
}

// A hair above, so that the bound holds after rounding to float too.
float rounded_up(double norm) { return static_cast<float>(norm * (1.0 + 1e-6)); }

// Where a model's values lie in the table, and how a score is made of them.
struct Rows {
  const float* values;
  std::size_t stride;
  const Scoring& scoring;

  const float* dot(std::size_t node) const {
    return values + node * stride + scoring.columns.first;
  }
  const float* hidden(std::size_t node) const {
    return values + node * stride + scoring.first_hidden;
  }
  float norm(std::size_t node) const {
    return rounded_up(norm_of(dot(node), scoring.columns.width));
  }
};

// Items in panels of kItems, transposed, from the longest vector to the shortest.
struct ItemPanels {
  std::vector<float> values;
  std::vector<float> norms;          // by panel
  std::vector<std::uint32_t> nodes;  // by position; kNone is padding
  std::vector<float> sums;           // by position: RankArgs::item_sums

  // `count` items, the first of them node `first_node` and row `first_row`.
  ItemPanels(const Rows& rows, std::size_t first_row, std::uint32_t first_node,
             std::uint32_t count) {
    std::vector<float> norm(count);
    at::parallel_for(0, count, 1024, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) norm[item] = rows.norm(first_row + item);
    });
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return norm[a] > norm[b]; });
    const std::uint32_t num_panels = (count + kItems - 1) / kItems;
    const std::uint32_t depth = rows.scoring.columns.width + rows.scoring.num_hidden();
    values.assign(std::size_t{num_panels} * depth * kItems, 0.0F);
    norms.resize(num_panels);
    nodes.assign(std::size_t{num_panels} * kItems, kNone);
    sums.assign(std::size_t{num_panels} * kItems, 0.0F);
    at::parallel_for(0, num_panels, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t panel = begin; panel < end; ++panel) {
        norms[panel] = norm[order[panel * kItems]];
        for (std::int64_t i = panel * kItems; i < (panel + 1) * kItems; ++i) {
          if (i >= count) break;
          nodes[i] = first_node + order[i];
          put_item(rows, first_row + order[i], i,
                   values.data() + panel * depth * kItems + i % kItems);
        }
      }
    });
  }

 private:
  void put_item(const Rows& rows, std::size_t row, std::int64_t position, float* out) {
    const Scoring& scoring = rows.scoring;
    const float* const dot = rows.dot(row);
    const float* const hidden = rows.hidden(row);
    for (std::uint32_t c = 0; c < scoring.columns.width; ++c) out[c * kItems] = dot[c];
    out += std::size_t{scoring.columns.width} * kItems;
    double sum = 0;
    for (std::uint32_t h = 0; h < scoring.num_hidden(); ++h) {
      out[h * kItems] = -hidden[h];
      sum += h < scoring.num_positive ? hidden[h] : -hidden[h];
    }
    sums[position] = static_cast<float>(sum);
  }
};

// Blocks of kUsers users and their lists, to be ranked side by side.
class UserBlocks {
 public:
  UserBlocks(const Scoring& scoring, const Graph& seen, std::uint32_t k)
      : scoring_(scoring), seen_(seen), k_(k) {}

  // Up to kUsers users, the i-th of which has row row_of(i); the last fills the block.
  template <typename RowOf>
  void add(std::span<const UserId> users, const Rows& rows, const RowOf& row_of) {
    Block& block = blocks_.emplace_back();
    const Scoring& scoring = scoring_;
    const std::uint32_t width = scoring.columns.width;
    const auto* const offsets = seen_.offsets.data_ptr<std::int64_t>();
    block.count = users.size();
    block.values.resize(std::size_t{width + scoring.num_hidden()} * kUsers);
    block.scores.resize(std::size_t{kUsers} * k_);
    block.ranked.assign(std::size_t{kUsers} * k_, kNone);
    for (std::size_t u = 0; u < kUsers; ++u) {
      const std::size_t index = std::min(u, users.size() - 1);
      const UserId user = users[index];
      const std::size_t row = row_of(index);
      const float* const dot = rows.dot(row);
      const float* const hidden = rows.hidden(row);
      for (std::uint32_t c = 0; c < width; ++c) block.values[c * kUsers + u] = dot[c];
      for (std::uint32_t h = 0; h < scoring.num_hidden(); ++h) {
        block.values[(width + h) * kUsers + u] = hidden[h];
      }
      block.norms[u] = rows.norm(row);
      block.seen[u] = u32_data(seen_.columns) + offsets[user];
      block.seen_count[u] = static_cast<std::uint32_t>(offsets[user + 1] - offsets[user]);
    }
  }

  // Every block with some panels at a time: hidden units need all panels, which are too many for
  // the caches. `continues`: the lists have items of other panels.
  void rank(const ItemPanels& panels, std::uint32_t panels_at_once, bool continues = false) {
    const auto num_panels = static_cast<std::uint32_t>(panels.norms.size());
    for (std::uint32_t first = 0; first < num_panels; first += panels_at_once) {
      const std::uint32_t end = std::min(num_panels - first, panels_at_once) + first;
      for (Block& block : blocks_) {
        RankArgs args = arguments(panels, block, first, end);
        args.continues = continues;
        kernels().rank_block(args);
      }
    }
  }

  // The lists of the users one after another; no block is left.
  void take(ItemId* out) {
    for (const Block& block : blocks_) {
      for (std::size_t i = 0; i < block.count * k_; ++i, ++out) {
        *out = block.ranked[i] == kNone ? kNone : block.ranked[i] - seen_.num_users;
      }
    }
    blocks_.clear();
  }

 private:
  struct Block {
    std::size_t count = 0;
    std::vector<float> values;
    std::array<float, kUsers> norms{};
    std::array<const std::uint32_t*, kUsers> seen{};
    std::array<std::uint32_t, kUsers> seen_count{};
    std::vector<float> scores;
    std::vector<std::uint32_t> ranked;
  };

  RankArgs arguments(const ItemPanels& panels, Block& block, std::uint32_t first_panel,
                     std::uint32_t end_panel) const {
    RankArgs args;
    args.width = scoring_.columns.width;
    args.users = block.values.data();
    args.user_norms = block.norms.data();
    args.panels = panels.values.data();
    args.panel_norms = panels.norms.data();
    args.items = panels.nodes.data();
    args.num_panels = end_panel;
    args.seen = block.seen.data();
    args.seen_count = block.seen_count.data();
    args.k = k_;
    args.scores = block.scores.data();
    args.ranked = block.ranked.data();
    args.num_positive = scoring_.num_positive;
    args.num_negative = scoring_.num_negative;
    args.item_sums = panels.sums.data();
    args.first_panel = first_panel;
    return args;
  }

  const Scoring& scoring_;
  const Graph& seen_;
  std::uint32_t k_;
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<ItemId> cpu_top_items(const at::Tensor& vectors, const Scoring& scoring,
                                  std::span<const UserId> users, const Graph& seen,
                                  std::uint32_t k) {
  const bool hidden = scoring.num_hidden() > 0;
  const std::uint32_t panels_at_once = hidden ? 4 : kNone;
  const std::size_t users_at_once = (hidden ? 32 : 1) * kUsers;
  const Rows rows{vectors.data_ptr<float>(), static_cast<std::size_t>(vectors.size(1)), scoring};
  const ItemPanels panels(rows, seen.num_users, seen.num_users, seen.num_items);
  std::vector<ItemId> result(users.size() * k, kNone);
  const auto num_groups =
      static_cast<std::int64_t>((users.size() + users_at_once - 1) / users_at_once);
  at::parallel_for(0, num_groups, hidden ? 1 : 4, [&](std::int64_t begin, std::int64_t end) {
    UserBlocks blocks(scoring, seen, k);
    for (std::int64_t group = begin; group < end; ++group) {
      const std::size_t first = static_cast<std::size_t>(group) * users_at_once;
      const std::size_t last = std::min(first + users_at_once, users.size());
      for (std::size_t u = first; u < last; u += kUsers) {
        const auto some = users.subspan(u, std::min<std::size_t>(kUsers, last - u));
        blocks.add(some, rows, [&](std::size_t i) { return some[i]; });
      }
      blocks.rank(panels, panels_at_once);
      blocks.take(result.data() + first * k);
    }
  });
  return result;
}

struct RankingByBlocks::Lists {
  Scoring scoring;
  const Graph& seen;
  std::uint32_t k;
  std::vector<UserBlocks> groups;  // of a block each
  std::size_t num_users = 0;
  bool has_items = false;
};

RankingByBlocks::RankingByBlocks(std::uint32_t width, const Graph& seen, std::uint32_t k)
    : lists_(new Lists{Scoring(0, width), seen, k, {}}) {}

RankingByBlocks::~RankingByBlocks() = default;

void RankingByBlocks::add_users(std::span<const UserId> users, const float* vectors) {
  BET_CHECK(lists_->num_users % kUsers == 0, "users are added after an incomplete block");
  const Rows rows{vectors, lists_->scoring.columns.width, lists_->scoring};
  for (std::size_t u = 0; u < users.size(); u += kUsers) {
    UserBlocks& group = lists_->groups.emplace_back(lists_->scoring, lists_->seen, lists_->k);
    group.add(users.subspan(u, std::min<std::size_t>(kUsers, users.size() - u)), rows,
              [&](std::size_t i) { return u + i; });
  }
  lists_->num_users += users.size();
}

void RankingByBlocks::rank_items(ItemId first, std::uint32_t count, const float* vectors) {
  const Rows rows{vectors, lists_->scoring.columns.width, lists_->scoring};
  const ItemPanels panels(rows, 0, lists_->seen.num_users + first, count);
  const auto num_groups = static_cast<std::int64_t>(lists_->groups.size());
  at::parallel_for(0, num_groups, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      lists_->groups[static_cast<std::size_t>(group)].rank(panels, kNone, lists_->has_items);
    }
  });
  lists_->has_items = true;
}

std::vector<ItemId> RankingByBlocks::take() {
  std::vector<ItemId> result(lists_->num_users * lists_->k, kNone);
  for (std::size_t group = 0; group < lists_->groups.size(); ++group) {
    lists_->groups[group].take(result.data() + group * kUsers * lists_->k);
  }
  return result;
}

std::vector<std::uint32_t> hits_of_lists(std::span<const ItemId> ranked, const HeldOutItems& held,
                                         std::size_t first_user, std::uint32_t k) {
  std::vector<std::uint32_t> hits(ranked.size() / k);
  constexpr std::int64_t kGrain = 1024;
  at::parallel_for(
      0, static_cast<std::int64_t>(hits.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          const auto items =
              std::span(held.items)
                  .subspan(held.offsets[first_user + i],
                           held.offsets[first_user + i + 1] - held.offsets[first_user + i]);
          for (std::uint32_t position = 0; position < k; ++position) {
            const bool hit = std::ranges::binary_search(items, ranked[i * k + position]);
            hits[i] |= std::uint32_t{hit} << position;
          }
        }
      });
  return hits;
}

}  // namespace bet
