#include "train/trained_scores.h"

namespace bet {

std::vector<double> trained_scores(const TrainingContext& context, std::span<const SizePlan> plans,
                                   const Evaluator& evaluator) {
  const std::vector<TrainingResult> trained = train_steps(context, plans);
  if (trained[0].stopped) return {};
  const auto backbone = make_backbone(context.model, context.graph);
  std::vector<double> scores;
  for (const TrainingResult& one : trained) {
    const Ranking ranking = backbone->ranking(one.table.to(context.graph.device()));
    scores.push_back(evaluator.measure(ranking.vectors, ranking.models[0]).score());
  }
  return scores;
}

}  // namespace bet
