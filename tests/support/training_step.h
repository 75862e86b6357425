#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "kernels/kernels.h"
#include "model/backbone.h"
#include "support/toy_data.h"
#include "train/batch_sampler.h"

namespace bet::test {

// Everything that a training step needs, on a toy graph, and its loss by plain LibTorch operators.
struct TrainingStep {
  Split split = toy_split();
  Graph graph = make_graph(split, TrainingPart::kTrain);
  Batch batch;

  explicit TrainingStep(BatchKind kind = BatchKind::kUsers, std::uint32_t pool = 1,
                        std::uint32_t entries = 90)
      : batch(entries, pool, graph.num_nodes(), at::kCPU) {
    const StepRecord record;
    BatchSampler(graph, 1).draw(&record, kind, batch);
  }

  // The adjacency as a dense matrix of zeros and ones, in double.
  torch::Tensor dense_adjacency() const {
    const auto nodes = graph.num_nodes();
    torch::Tensor dense = torch::zeros({nodes, nodes}, torch::kDouble);
    const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
    const auto* columns = graph.columns.data_ptr<std::int32_t>();
    for (std::int64_t row = 0; row < nodes; ++row) {
      for (std::int64_t e = offsets[row]; e < offsets[row + 1]; ++e) dense[row][columns[e]] = 1.0;
    }
    return dense;
  }

  // Rows of the table at the batch's slots [first, first + count).
  torch::Tensor rows(std::int64_t first, std::int64_t count) const {
    return batch.rows.slice(0, first, first + count).to(torch::kLong);
  }

  // The scores of pairs (user row, item row), both int64 [pairs].
  using Score = std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)>;

  // The mean over the entries of their loss: the mean of softplus(score of a negative - score of
  // the positive), negatives that the user has seen as zero, or the softmax's.
  torch::Tensor loss(const Score& score, const LossOptions& options = {}) const {
    const std::int64_t size = batch.size();
    const std::int64_t pool = batch.pool();
    std::vector<std::int64_t> entries;
    std::vector<std::int64_t> negatives;
    for (std::int64_t e = 0; e < size; ++e) {
      for (std::int64_t k = 0; k < pool; ++k) {
        if (pool > 1) {
          const std::int64_t word = e * (pool / 32) + k / 32;
          if ((batch.seen_mask[word].item<std::int32_t>() >> k % 32 & 1) != 0) continue;
        }
        entries.push_back(e);
        negatives.push_back(2 * size + e / pool * pool + k);
      }
    }
    const torch::Tensor entry = torch::tensor(entries, torch::kLong);
    const torch::Tensor slot_rows = rows(0, batch.num_slots());
    const torch::Tensor users = slot_rows.index_select(0, entry);
    const torch::Tensor positive = score(users, slot_rows.index_select(0, entry + size));
    const torch::Tensor negative =
        score(users, slot_rows.index_select(0, torch::tensor(negatives, torch::kLong)));
    if (options.kind == LossKind::kBpr) {
      return torch::softplus(negative - positive).sum() / static_cast<double>(size * pool);
    }
    const torch::Tensor exponentials = torch::exp((negative - positive) / options.temperature);
    return torch::zeros({size}, torch::kDouble).index_add(0, entry, exponentials).log1p().mean();
  }

  // The regulariser's part of the loss.
  torch::Tensor squares(const torch::Tensor& table) const {
    return table.index_select(0, rows(0, batch.num_slots())).pow(2).sum() /
           static_cast<double>(batch.size());
  }
};

// Scores that are dot products of rows.
inline TrainingStep::Score dot_score(const torch::Tensor& vectors) {
  return [vectors](const torch::Tensor& users, const torch::Tensor& items) {
    return (vectors.index_select(0, users) * vectors.index_select(0, items)).sum(1);
  };
}

inline torch::Tensor mask_of(const ModelParameters& table) {
  const torch::Tensor columns = torch::arange(table.values.size(1));
  return columns.unsqueeze(0) < table.sizes[0].to(torch::kLong).unsqueeze(1);
}

// Expects `ours` to equal `expected` up to a fraction `share` of the largest expected entry.
inline void expect_same_gradient(const torch::Tensor& ours, const torch::Tensor& expected,
                                 double share = 1e-5) {
  const double largest = expected.abs().max().item<double>();
  EXPECT_GT(largest, 1e-6) << "there is a gradient to compare";
  const torch::Tensor difference = (ours.to(torch::kDouble) - expected).abs();
  EXPECT_LT(difference.max().item<double>(), share * largest);
}

}  // namespace bet::test
