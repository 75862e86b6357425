#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "data/split.h"
#include "data/training_part.h"

namespace bet {

// The items of a user in that part; not ascending as a whole unless the part is kTrain.
std::span<const ItemId> items_of(const Split& split, TrainingPart part, UserId user);

// Users and items as nodes of one bipartite graph: user u is node u, item v is node num_users + v.
// Tensors live on one device. Immutable; any thread may read.
struct Graph {
  std::uint32_t num_users = 0;
  std::uint32_t num_items = 0;
  at::Tensor offsets;         // int64 [nodes + 1]
  at::Tensor columns;         // int32 [edges + kColumnSlack], neighbours ascending per node
  at::Tensor active_users;    // int32: users with at least one item
  at::Tensor inverse_root;    // float [nodes]: 1 / sqrt(degree), 0 for nodes without edges
  at::Tensor inverse_degree;  // float [nodes]: its square
  at::Tensor quarter;         // float [nodes]: 1/4
  at::Tensor quarter_root;    // float [nodes]: inverse_root / 4

  std::int64_t num_nodes() const { return std::int64_t{num_users} + num_items; }
  at::Device device() const { return offsets.device(); }
  Graph to(const at::Device& device) const;
};

// On the CPU.
Graph make_graph(const Split& split, TrainingPart part);

}  // namespace bet
