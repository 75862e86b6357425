#include "train/denser_fold.h"

namespace bet {

DenserFold::DenserFold(const TrainingContext& context, TrainingPart final_part,
                       std::uint32_t number)
    : split_(context.split), graph_(context.graph), model_(context.model) {
  if (final_part != TrainingPart::kTrain) {
    denser_ = denser_split(split_, model_.seed, number);
    denser_graph_ = make_graph(*denser_, TrainingPart::kTrain).to(graph_.device());
  }
  model_.seed += number;
  evaluator_.emplace(split(), HeldOut::kValidation, graph());
}

}  // namespace bet
