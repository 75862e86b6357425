#pragma once

#include <functional>
#include <optional>

#include "train/evaluator.h"
#include "train/model_state.h"

namespace bet {

// The finetuning of a probe: batches and optimiser of the training's schedule, as many steps as
// make so many epochs over the training interactions.
Schedule finetune_schedule(const Schedule& training, std::uint64_t num_interactions,
                           std::uint32_t num_users, std::uint32_t epochs);

// Measures plans: each probe starts from the pretrained model under the plan's mask, is finetuned
// for a fixed number of steps with fresh Adam state, and measured on all validation users. Every
// probe sees the same batches, so that fitness differs by plan and not by luck. What does not
// depend on the plan is made once. All arguments must outlive it.
class Prober {
 public:
  // `full` on the graph's device; `full_score` is its validation score, the denominator of fitness.
  Prober(const Split& split, const Graph& graph, const ModelParameters& full, double full_score,
         const ModelOptions& model, const Schedule& finetune);

  // Quality of the finetuned plan / quality of the full model. None if `stop`, asked before each
  // step, said so.
  std::optional<double> fitness(const SizePlan& plan, const std::function<bool()>& stop) const;

 private:
  const Graph& graph_;
  const ModelParameters& full_;
  double full_score_;
  ModelOptions model_;
  Schedule finetune_;
  Evaluator evaluator_;
};

}  // namespace bet
