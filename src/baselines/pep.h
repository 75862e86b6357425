#pragma once

#include "model/row_adam.h"
#include "search/pretrained.h"
#include "train/model_state.h"

namespace bet {

// PEP's thresholds (Liu et al., ICLR'21): the backbone gets sign(v) max(|v| - k sigmoid(s), 0),
// with an s of its own for each value, which Adam moves by the loss's gradient and by an L2 term on
// s, coupled as in the authors' code. That term is what moves them: it makes every s rise alike, by
// about the learning rate a step, until thresholds are of the values' size.
class PepThresholds final : public TableFilter {
 public:
  struct Options {
    double scale = 1;          // k: the highest threshold is half of it, because s ends at 0
    double learning_rate = 0;  // of s, the same for all steps
    double decay = 1e-3;  // of the L2 term, to begin with: where the loss outweighs it, thresholds
                          // stand still
    double first = -15;   // where s begins
    std::uint64_t max_steps = 0;
    AdamOptions adam = {};
  };
  // For a single model's table.
  PepThresholds(const ModelParameters& table, const Options& options);

  at::Tensor filtered(const at::Tensor& values) override;
  std::vector<at::Tensor> parameters() override { return {leaf_}; }
  void update(std::span<const at::Tensor> gradients, const at::Tensor& loss) override;

  // Steps after which s is at 0, its end, where the loss does not hold it down.
  std::uint64_t steps_to_highest() const;
  void double_decay() { decay_.mul_(2); }

  // k sigmoid(s), by value.
  at::Tensor thresholds() const;

  void save(Checkpoint& checkpoint);
  void restore(const Checkpoint& checkpoint);

 private:
  Options options_;
  ModelParameters table_;  // of s
  at::Tensor leaf_;        // its values, for autograd
  at::Tensor decay_;       // of the L2 term, one number on the table's device
  RowAdam adam_;
};

// Thresholds for a training that is usually as long, and whose values are as large, as those of the
// full-size model, of which `schedule` was the schedule.
PepThresholds::Options pep_options(const Pretrained& full, const Schedule& schedule);

}  // namespace bet
