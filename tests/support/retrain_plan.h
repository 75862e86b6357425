#pragma once

#include <span>

#include "train/retraining.h"

namespace bet::test {

// retrain_plans of one plan, with the graph made here.
inline RetrainingResult retrain_plan(const Split& split, const SizePlan& plan,
                                     const RetrainingOptions& options, const TrainingHooks& hooks,
                                     const RetrainingFolder& folder) {
  const Graph graph = make_graph(split, TrainingPart::kTrain).to(options.device);
  return retrain_plans({split, graph, options.model, options.schedule, hooks}, options.final_part,
                       std::span(&plan, 1), folder);
}

}  // namespace bet::test
