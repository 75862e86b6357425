#include "model/cpu_ranking.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

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

// All items in panels of kItems, transposed, from the longest vector to the shortest.
struct ItemPanels {
  std::vector<float> values;
  std::vector<float> norms;          // by panel
  std::vector<std::uint32_t> nodes;  // by place; kNone is padding

  ItemPanels(const float* vectors, std::size_t stride, std::uint32_t width, const Graph& graph) {
    std::vector<float> norm(graph.num_items);
    at::parallel_for(0, graph.num_items, 1024, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        norm[item] = rounded_up(norm_of(vectors + (graph.num_users + item) * stride, width));
      }
    });
    std::vector<std::uint32_t> order(graph.num_items);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return norm[a] > norm[b]; });
    const std::uint32_t num_panels = (graph.num_items + kItems - 1) / kItems;
    values.assign(std::size_t{num_panels} * width * kItems, 0.0F);
    norms.resize(num_panels);
    nodes.assign(std::size_t{num_panels} * kItems, kNone);
    at::parallel_for(0, num_panels, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t panel = begin; panel < end; ++panel) {
        norms[panel] = norm[order[panel * kItems]];
        float* const out = values.data() + panel * width * kItems;
        for (std::uint32_t i = 0; i < kItems && panel * kItems + i < graph.num_items; ++i) {
          const std::uint32_t node = graph.num_users + order[panel * kItems + i];
          nodes[panel * kItems + i] = node;
          const float* const row = vectors + node * stride;
          for (std::uint32_t c = 0; c < width; ++c) out[c * kItems + i] = row[c];
        }
      }
    });
  }
};

}  // namespace

std::vector<ItemId> cpu_top_items(const at::Tensor& vectors, const ModelColumns& columns,
                                  std::span<const UserId> users, const Graph& seen,
                                  std::uint32_t k) {
  const std::uint32_t width = columns.width;
  const float* const values = vectors.data_ptr<float>() + columns.first;
  const auto stride = static_cast<std::size_t>(vectors.size(1));
  const ItemPanels panels(values, stride, width, seen);
  const auto* const offsets = seen.offsets.data_ptr<std::int64_t>();
  const std::uint32_t* const neighbours = words(seen.columns);
  std::vector<ItemId> result(users.size() * k, kNone);
  const auto num_blocks = static_cast<std::int64_t>((users.size() + kUsers - 1) / kUsers);
  at::parallel_for(0, num_blocks, 4, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> block(std::size_t{width} * kUsers);
    std::array<float, kUsers> norms{};
    std::array<const std::uint32_t*, kUsers> seen_items{};
    std::array<std::uint32_t, kUsers> seen_count{};
    std::vector<float> scores(std::size_t{kUsers} * k);
    std::vector<std::uint32_t> ranked(std::size_t{kUsers} * k);
    RankArgs args;
    args.width = width;
    args.users = block.data();
    args.user_norms = norms.data();
    args.panels = panels.values.data();
    args.panel_norms = panels.norms.data();
    args.items = panels.nodes.data();
    args.num_panels = static_cast<std::uint32_t>(panels.norms.size());
    args.seen = seen_items.data();
    args.seen_count = seen_count.data();
    args.k = k;
    args.scores = scores.data();
    args.ranked = ranked.data();
    for (std::int64_t b = begin; b < end; ++b) {
      const std::size_t first = static_cast<std::size_t>(b) * kUsers;
      const std::size_t count = std::min<std::size_t>(kUsers, users.size() - first);
      for (std::size_t u = 0; u < kUsers; ++u) {
        const UserId user = users[first + std::min(u, count - 1)];  // the last fills the block
        const float* const row = values + user * stride;
        for (std::uint32_t c = 0; c < width; ++c) block[c * kUsers + u] = row[c];
        norms[u] = rounded_up(norm_of(row, width));
        seen_items[u] = neighbours + offsets[user];
        seen_count[u] = static_cast<std::uint32_t>(offsets[user + 1] - offsets[user]);
      }
      kernels().rank_block(args);
      for (std::size_t i = 0; i < count * k; ++i) {
        if (ranked[i] != kNone) result[first * k + i] = ranked[i] - seen.num_users;
      }
    }
  });
  return result;
}

}  // namespace bet
