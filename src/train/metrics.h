#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace bet {

// Cut-offs of the ranking metrics.
constexpr std::array<std::uint32_t, 3> kCutoffs = {5, 10, 20};

// Means over users with at least one held-out item. Recall@k = hits / held-out items; NDCG@k
// binary, 1 / log2(rank + 1), ideal over min(k, held-out items).
struct Metrics {
  std::array<double, 3> recall{};  // by cut-off
  std::array<double, 3> ndcg{};
  std::uint64_t num_users = 0;  // with held-out items

  // The paper's one number: the mean of all six.
  double score() const;

  bool operator==(const Metrics&) const = default;
};

// The mean over all of them, which are of one user each.
Metrics mean_of(std::span<const Metrics> users);

// The metrics of one user: bit p of `hits` is set if the item at position p is one of the
// user's held-out items, of which there are `num_held_out` > 0.
Metrics user_metrics(std::uint32_t hits, std::size_t num_held_out);

}  // namespace bet
