#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/backbone.h"
#include "model/batch.h"
#include "model/executor.h"
#include "model/row_adam.h"
#include "train/batch_sampler.h"
#include "train/checkpoint.h"
#include "train/schedule.h"

namespace bet {

// What a method puts between the table and the backbone, and trains along with them. On the
// table's device. Everything but the arguments of filtered() must stay at the same address from
// step to step, because a GPU replays the first recorded step.
class TableFilter {
 public:
  virtual ~TableFilter() = default;

  // What the backbone gets for `values`, computed by LibTorch's operators, so that autograd finds
  // the gradients of them and of parameters().
  virtual at::Tensor filtered(const at::Tensor& values) = 0;

  // The filter's own parameters, as leaves that require a gradient, and one step of them. `loss` is
  // that of the batch.
  virtual std::vector<at::Tensor> parameters() { return {}; }
  virtual void update(std::span<const at::Tensor> /*gradients*/, const at::Tensor& /*loss*/) {}
};

// Models in training side by side, one for each plan: one table, the same batches, one pass over
// the graph for all; each is what it would be alone, up to rounding. On the device of `graph`,
// which must outlive it.
class ModelInTraining {
 public:
  ModelInTraining(const Graph& graph, std::span<const SizePlan> plans, const ModelOptions& options,
                  const Schedule& schedule);
  // From given values instead of random ones; the table is the model's from now on.
  ModelInTraining(const Graph& graph, const ModelParameters& table, const ModelOptions& options,
                  const Schedule& schedule);

  // Trains through a filter. Call it before the first step; the filter must outlive the model.
  void use(TableFilter& filter);

  // Makes one step of every model; on the GPU it may return before the step is done. Throws, naming
  // the step, if a loss was not finite: on the GPU some steps later.
  void step();

  // Mean loss of each model, with the regulariser, over the steps since the last call; waits for
  // the device.
  std::vector<double> take_mean_losses();

  // The ranking of the models as they are now, through the filter if there is one.
  Ranking ranking() const;

  std::uint64_t num_steps() const { return num_steps_; }
  const ModelParameters& table() const { return table_; }
  // The batch of the last step.
  const Batch& batch() const { return batch_; }
  const Backbone& backbone() const { return *backbone_; }
  Executor& executor() const { return executor_; }
  // That train the model together; null: this process alone.
  RankGroup* ranks() const { return options_.ranks; }

  // Everything that is needed to resume to the same bits. Shares memory with a model on the CPU.
  Checkpoint state();
  // Throws on the state of another plan.
  void restore(const Checkpoint& state);

 private:
  void run_step();
  void step_with_ranks(const at::Tensor& gradient, const at::Tensor& loss);
  void check_losses() const;

  Executor& executor_;
  ModelOptions options_;
  Schedule schedule_;
  std::unique_ptr<Backbone> backbone_;
  ModelParameters table_;
  RowAdam adam_;
  ModelParameters weights_;              // table_.weights as the optimiser sees them
  std::optional<RowAdam> weights_adam_;  // none without weights
  BatchSampler sampler_;
  Batch batch_;
  TableFilter* filter_ = nullptr;
  at::Tensor ones_;  // the losses' gradient
  std::unique_ptr<Executor::Loop> loop_;
  std::uint64_t num_steps_ = 0;
  std::vector<StepRecord> taken_;  // the records at the last take_mean_losses()
};

// The memory of its device that a training takes in addition to its graph, in bytes.
struct TrainingMemory {
  std::uint64_t least = 0;  // with less it is refused
  std::uint64_t about = 0;
};
// Of these plans side by side; with ranks, of the one that takes most.
TrainingMemory training_memory(const Graph& graph, std::span<const SizePlan> plans,
                               const ModelOptions& options, const Schedule& schedule);

}  // namespace bet
