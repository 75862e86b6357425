#pragma once

#include "train/denser_fold.h"
#include "train/trained_scores.h"

namespace bet::test {

// The score of a plan that is trained by the context's loss and schedule, with each third of
// validation held out once.
inline double mean_over_folds(const TrainingContext& context, const SizePlan& plan) {
  double mean = 0;
  for (std::uint32_t number = 0; number < kFolds; ++number) {
    const DenserFold fold(context, TrainingPart::kTrainAndValidation, number);
    mean += trained_scores({fold.split(), fold.graph(), fold.model(), context.schedule, {}},
                           std::span(&plan, 1), fold.evaluator())[0] /
            kFolds;
  }
  return mean;
}

}  // namespace bet::test
