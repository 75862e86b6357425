#pragma once

#include <span>
#include <vector>

#include "model/graph.h"
#include "model/scoring.h"

namespace bet {

// Executor::top_items on the CPU. Exact; scores of all pairs are never stored. Where they are dot
// products alone, items whose vectors are too short to reach a user's list are skipped.
std::vector<ItemId> cpu_top_items(const at::Tensor& vectors, const Scoring& scoring,
                                  std::span<const UserId> users, const Graph& seen,
                                  std::uint32_t k);

}  // namespace bet
