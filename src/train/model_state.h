#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/backbone.h"
#include "model/bpr_loss.h"
#include "model/row_adam.h"
#include "train/schedule.h"
#include "train/triple_sampler.h"

namespace bet {

// What is trained, apart from how long.
struct ModelOptions {
  std::string backbone = "lightgcn";
  RowPrecision precision = RowPrecision::kFloat32;
  double l2 = 1e-4;  // of the squared rows of a batch, over its size
  std::uint64_t seed = 1;
};

// A model in training: table, optimiser, batches. `graph` must outlive it.
class ModelInTraining {
 public:
  ModelInTraining(const Graph& graph, const SizePlan& plan, const ModelOptions& options,
                  const Schedule& schedule);

  // One step; returns its loss with the regulariser. Throws, naming the step, if that is not
  // finite.
  double step();

  // float [users + items, stride], without a gradient.
  at::Tensor vectors() const;

  std::uint64_t num_steps() const { return static_cast<std::uint64_t>(adam_.num_steps()); }
  MaskedTable& table() { return table_; }
  const MaskedTable& table() const { return table_; }
  RowAdam& adam() { return adam_; }

 private:
  const Graph& graph_;
  ModelOptions options_;
  Schedule schedule_;
  MaskedTable table_;
  RowAdam adam_;
  std::unique_ptr<Backbone> backbone_;
  TripleSampler sampler_;
  TripleBatch batch_;
  BatchEntries entries_;
};

}  // namespace bet
