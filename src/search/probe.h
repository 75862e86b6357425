#pragma once

#include <functional>
#include <optional>

#include "train/evaluator.h"
#include "train/trainer.h"

namespace bet {

// The schedule of a probe's finetuning: the paper's batches and rates, whatever schedule the
// retraining has, and as many steps as `epochs` passes over the training interactions take.
Schedule finetune_schedule(std::uint64_t num_interactions, std::uint32_t epochs);

// Measures plans: each probe starts from the pretrained model under the plan's mask, is finetuned
// for a fixed number of steps with fresh Adam state, and measured on all validation users. Every
// probe sees the same batches, so that fitness differs by plan and not by luck. What does not
// depend on the plan is made once.
class Prober {
 public:
  // The context's schedule is that of the finetuning; its hooks are not used. `full` lies on the
  // graph's device; `full_score` is its validation score, the denominator of fitness. The graph and
  // `full` must outlive the prober.
  Prober(const TrainingContext& context, const ModelParameters& full, double full_score);

  // Quality of the finetuned plan / quality of the full model. Nothing if `stop`, which is asked
  // before each step and may be empty, returned true.
  std::optional<double> fitness(const SizePlan& plan, const std::function<bool()>& stop) const;

  // Of one probe.
  LossOptions loss() const { return model_.losses_of(1)[0]; }
  std::uint64_t steps() const { return finetune_.max_steps; }

 private:
  const Graph& graph_;
  const ModelParameters& full_;
  double full_score_;
  ModelOptions model_;
  Schedule finetune_;
  Evaluator evaluator_;
};

}  // namespace bet
