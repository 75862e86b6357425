#include "model/graph.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "kernels/kernels.h"

namespace bet {

std::span<const ItemId> items_of(const Split& split, TrainingPart part, UserId user) {
  switch (part) {
    case TrainingPart::kTrain:
      return split.train(user);
    case TrainingPart::kTrainAndValidation:
      return split.train_and_validation(user);
    case TrainingPart::kAll:
      break;
  }
  return split.all(user);
}

Graph Graph::to(const at::Device& device) const {
  Graph moved = *this;
  for (at::Tensor* tensor :
       {&moved.offsets, &moved.columns, &moved.active_users, &moved.inverse_root,
        &moved.inverse_degree, &moved.quarter, &moved.quarter_root}) {
    *tensor = tensor->to(device);
  }
  return moved;
}

namespace {

// Neighbours in both directions, ascending for each node.
void add_edges(Graph& graph, const Split& split, TrainingPart part) {
  const std::int64_t num_nodes = graph.num_nodes();
  graph.offsets = at::zeros({num_nodes + 1}, at::kLong);
  auto* offsets = graph.offsets.data_ptr<std::int64_t>();
  for (UserId user = 0; user < graph.num_users; ++user) {
    const std::span<const ItemId> items = items_of(split, part, user);
    offsets[user + 1] = static_cast<std::int64_t>(items.size());
    for (const ItemId item : items) ++offsets[graph.num_users + item + 1];
  }
  for (std::int64_t node = 0; node < num_nodes; ++node) offsets[node + 1] += offsets[node];

  graph.columns =
      at::zeros({offsets[num_nodes] + static_cast<std::int64_t>(kColumnSlack)}, at::kInt);
  auto* columns = graph.columns.data_ptr<std::int32_t>();
  std::vector<std::int64_t> next(offsets, offsets + num_nodes);
  for (UserId user = 0; user < graph.num_users; ++user) {
    std::int32_t* const row = columns + offsets[user];
    for (const ItemId item : items_of(split, part, user)) {
      columns[next[user]++] = static_cast<std::int32_t>(graph.num_users + item);
      columns[next[graph.num_users + item]++] = static_cast<std::int32_t>(user);
    }
    std::sort(row, columns + offsets[user + 1]);
  }
}

void add_scales(Graph& graph) {
  const std::int64_t num_nodes = graph.num_nodes();
  const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
  graph.inverse_root = at::zeros({num_nodes}, at::kFloat);
  auto* inverse_root = graph.inverse_root.data_ptr<float>();
  for (std::int64_t node = 0; node < num_nodes; ++node) {
    const auto degree = static_cast<double>(offsets[node + 1] - offsets[node]);
    if (degree > 0) inverse_root[node] = static_cast<float>(1.0 / std::sqrt(degree));
  }
  graph.inverse_degree = graph.inverse_root.square();
  graph.quarter = at::full({num_nodes}, 0.25, at::kFloat);
  graph.quarter_root = graph.inverse_root.mul(0.25);
}

void add_active_users(Graph& graph) {
  const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
  std::vector<std::int32_t> active;
  for (UserId user = 0; user < graph.num_users; ++user) {
    if (offsets[user + 1] > offsets[user]) active.push_back(static_cast<std::int32_t>(user));
  }
  graph.active_users = at::empty({static_cast<std::int64_t>(active.size())}, at::kInt);
  std::copy(active.begin(), active.end(), graph.active_users.data_ptr<std::int32_t>());
}

}  // namespace

Graph make_graph(const Split& split, TrainingPart part) {
  Graph graph;
  graph.num_users = split.num_users();
  graph.num_items = split.num_items();
  BET_CHECK(graph.num_nodes() < std::int64_t{1} << 31, graph.num_nodes(),
            " users and items are too many to train");
  add_edges(graph, split, part);
  add_scales(graph);
  add_active_users(graph);
  return graph;
}

}  // namespace bet
