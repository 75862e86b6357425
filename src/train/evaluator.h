#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/split.h"
#include "model/graph.h"
#include "train/metrics.h"

namespace bet {

enum class HeldOut { kValidation, kTest };

// Full ranking: the score of every item for every user with held-out items, by the dot product of
// their rows in `vectors` (float [users + items, stride], columns from `width` on are zero); items
// that the user has in `seen` (the graph the model was trained on) are left out, ties go to the
// lower item. Exact, and the same for any number of threads; scores of all pairs are never stored.
Metrics evaluate(const at::Tensor& vectors, std::uint32_t width, const Split& split,
                 HeldOut held_out, const Graph& seen);

// The best `k` items for each of `users`, best first, k to a user; ~0 where there are fewer.
std::vector<ItemId> top_items(const at::Tensor& vectors, std::uint32_t width,
                              std::span<const UserId> users, const Graph& seen, std::uint32_t k);

}  // namespace bet
