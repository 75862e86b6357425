#pragma once

#include <cstdint>

#include "kernels/batch_draw.h"
#include "model/batch.h"
#include "model/graph.h"

namespace bet {

// Draws batches: a user, one of the user's items, and items that the user has not seen, each
// uniformly. A batch is a function of seed and step alone (Philox), so every device and thread
// count draws the same. `graph` must outlive the sampler.
class BatchSampler {
 public:
  BatchSampler(const Graph& graph, std::uint64_t seed);

  // The number of users with interactions.
  std::uint32_t num_users() const;

  // Draws the batch of the step that follows record->steps, which lies in memory of the batch's
  // device, and groups it.
  void draw(const StepRecord* record, BatchKind kind, Batch& batch) const;

 private:
  const Graph& graph_;
  std::array<std::uint32_t, 2> user_key_;
  std::array<std::uint32_t, 2> item_key_;
};

}  // namespace bet
