#pragma once

#include <cstdint>
#include <optional>

#include "train/evaluator.h"
#include "train/trainer.h"

namespace bet {

// The data of trainings that decide about the final one, at about the density it will have: a third
// of validation is held out, the rest of it and train are trained on (denser_split). For a final
// training on train alone, train and validation as they are. Fold `number` of kFolds holds out
// another third and begins from other values. What the context of the retraining refers to must
// outlive it.
class DenserFold {
 public:
  DenserFold(const TrainingContext& context, TrainingPart final_part, std::uint32_t number);
  DenserFold(const DenserFold&) = delete;
  DenserFold& operator=(const DenserFold&) = delete;

  const Split& split() const { return denser_ ? *denser_ : split_; }
  const Graph& graph() const { return denser_graph_ ? *denser_graph_ : graph_; }
  const ModelOptions& model() const { return model_; }
  const Evaluator& evaluator() const { return *evaluator_; }  // on what is held out

 private:
  const Split& split_;
  const Graph& graph_;
  ModelOptions model_;
  std::optional<Split> denser_;
  std::optional<Graph> denser_graph_;
  std::optional<Evaluator> evaluator_;
};

}  // namespace bet
