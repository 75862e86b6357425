#include "train/length_by_bpr.h"

#include <algorithm>

namespace bet {

std::optional<LengthByBpr> length_by_bpr(const TrainingContext& context, const SizePlan& plan,
                                         Rates rates) {
  ModelOptions model = context.model;
  model.losses = {LossOptions()};
  const std::uint64_t half = std::max<std::uint64_t>(1, context.schedule.max_steps / 2);
  const SizePlan table = plan.with_form(StoredForm::kTable);
  const TrainingResult trained = train_to_convergence(
      {context.split, context.graph, model, context.schedule.of_length(half), context.hooks},
      std::span(&table, 1), nullptr, rates)[0];
  if (trained.stopped) return std::nullopt;
  return LengthByBpr{trained.best_length, trained.best_rate, trained.few_data, trained.steps,
                     trained.validation.score()};
}

}  // namespace bet
