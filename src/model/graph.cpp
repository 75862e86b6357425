#include "model/graph.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

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

std::vector<std::int64_t> balanced_chunks(std::span<const std::uint64_t> offsets, int num_chunks) {
  const std::size_t num_rows = offsets.size() - 1;
  // A row costs its entries and something of its own.
  const auto work_before = [&](std::size_t row) { return offsets[row] + 4 * row; };
  std::vector<std::int64_t> chunks = {0};
  for (int i = 1; i < num_chunks; ++i) {
    const std::uint64_t target = work_before(num_rows) * i / num_chunks;
    std::size_t low = static_cast<std::size_t>(chunks.back());
    std::size_t high = num_rows;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (work_before(middle) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    chunks.push_back(static_cast<std::int64_t>(low));
  }
  chunks.push_back(static_cast<std::int64_t>(num_rows));
  return chunks;
}

Graph make_graph(const Split& split, TrainingPart part) {
  Graph graph;
  graph.num_users = split.num_users();
  graph.num_items = split.num_items();
  const std::int64_t num_nodes = graph.num_nodes();
  BET_CHECK(num_nodes < std::int64_t{1} << 31, num_nodes, " users and items are too many to train");

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

  graph.inverse_root = at::zeros({num_nodes}, at::kFloat);
  auto* inverse_root = graph.inverse_root.data_ptr<float>();
  for (std::int64_t node = 0; node < num_nodes; ++node) {
    const auto degree = static_cast<double>(offsets[node + 1] - offsets[node]);
    if (degree > 0) inverse_root[node] = static_cast<float>(1.0 / std::sqrt(degree));
  }
  graph.inverse_degree = graph.inverse_root.square();
  graph.quarter = at::full({num_nodes}, 0.25, at::kFloat);
  graph.quarter_root = graph.inverse_root.mul(0.25);
  constexpr int kChunks = 256;
  graph.chunks = balanced_chunks(
      {reinterpret_cast<const std::uint64_t*>(offsets), static_cast<std::size_t>(num_nodes + 1)},
      kChunks);
  return graph;
}

}  // namespace bet
