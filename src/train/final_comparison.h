#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "train/loss_choice.h"
#include "train/trainer.h"

namespace bet {

// A plan, and by which loss and for how many steps it would be trained finally.
struct FinalCandidate {
  const SizePlan* plan = nullptr;
  LossOfLength training;
};

// Thirds of validation that a comparison holds out in turn: as many as make noise at most 1 %, if
// there are.
std::uint32_t folds_to_compare(const Split& split);

// Compares plans and losses by trainings as the final one will be, but for a third of validation,
// which is held out (DenserFold): what is better after shorter trainings, or after trainings on
// less, need not be so finally. The context is that of the retraining; it must outlive this. One
// thread.
class FinalComparison {
 public:
  FinalComparison(const TrainingContext& context, TrainingPart final_part)
      : context_(context), final_part_(final_part), num_folds_(folds_to_compare(context.split)) {}

  std::uint32_t num_folds() const { return num_folds_; }

  // By more than noise.
  bool is_clearly_better(double score, double other) const;

  // The mean score of each over the folds. `part_done` is told which part of the work is done, if
  // the context's hooks take progress. Empty if hooks.stop ended it. hooks.save is not used: a
  // comparison that was left begins again.
  std::vector<double> scores(std::span<const FinalCandidate> candidates,
                             const std::function<void(double)>& part_done) const;

 private:
  const TrainingContext& context_;
  TrainingPart final_part_;
  std::uint32_t num_folds_;
};

}  // namespace bet
