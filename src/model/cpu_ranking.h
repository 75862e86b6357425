#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "model/graph.h"
#include "model/held_out_items.h"
#include "model/scoring.h"

namespace bet {

// Executor::top_items on the CPU. Exact; scores of all pairs are never stored. Where they are dot
// products alone, items whose vectors are too short to reach a user's list are skipped.
std::vector<ItemId> cpu_top_items(const at::Tensor& vectors, const Scoring& scoring,
                                  std::span<const UserId> users, const Graph& seen,
                                  std::uint32_t k);

// The same lists by dot products, where the vectors are not in one table: users first, then items
// in blocks.
class RankingByBlocks {
 public:
  // `seen` must outlive it.
  RankingByBlocks(std::uint32_t width, const Graph& seen, std::uint32_t k);
  ~RankingByBlocks();
  RankingByBlocks(const RankingByBlocks&) = delete;
  RankingByBlocks& operator=(const RankingByBlocks&) = delete;

  // Their vectors are copied: [users, width]. A multiple of kUsersAtOnce, or the last ones.
  static constexpr std::uint32_t kUsersAtOnce = RankArgs::kUsers;
  void add_users(std::span<const UserId> users, const float* vectors);
  // `count` items from `first` on: [count, width].
  void rank_items(ItemId first, std::uint32_t count, const float* vectors);
  // The lists of the users in the order in which they were added, as top_items returns them.
  std::vector<ItemId> take();

 private:
  struct Lists;
  std::unique_ptr<Lists> lists_;
};

// Executor::top_hits from the lists of the users of `held` from `first_user` on.
std::vector<std::uint32_t> hits_of_lists(std::span<const ItemId> ranked, const HeldOutItems& held,
                                         std::size_t first_user, std::uint32_t k);

}  // namespace bet
