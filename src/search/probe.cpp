#include "search/probe.h"

#include <algorithm>

#include "base/error.h"
#include "train/training_loop.h"

namespace bet {

Schedule finetune_schedule(std::uint64_t num_interactions, std::uint32_t epochs) {
  BET_CHECK(epochs > 0, "probes must be finetuned for at least one epoch");
  Schedule schedule = named_schedule("paper");
  const std::uint64_t entries = schedule.batch_size;
  const std::uint64_t steps_of_epoch = (num_interactions + entries - 1) / entries;
  schedule.decay = 0.98;  // BET paper, Section 4.3
  schedule.max_steps = epochs * steps_of_epoch;
  return schedule;
}

Prober::Prober(const TrainingContext& context, const ModelParameters& full, double full_score)
    : graph_(context.graph),
      full_(full),
      full_score_(full_score),
      model_(context.model),
      finetune_(context.schedule),
      evaluator_(context.split, HeldOut::kValidation, context.graph) {
  BET_CHECK(full_score > 0, "the full-size model scores ", full_score,
            " on validation: there is nothing to measure plans against");
}

std::optional<double> Prober::fitness(const SizePlan& plan,
                                      const std::function<bool()>& stop) const {
  ModelInTraining model(graph_, masked_copy(full_, std::span(&plan, 1)), model_, finetune_);
  TrainingHooks hooks;
  hooks.stop = stop;
  if (!run_steps(model, finetune_.max_steps, hooks)) return std::nullopt;
  const Ranking ranking = model.ranking();
  return evaluator_.measure(ranking.vectors, ranking.models[0]).score() / full_score_;
}

}  // namespace bet
