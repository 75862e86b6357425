#include "search/rung.h"

#include <algorithm>

#include "train/loss_choice.h"
#include "train/trained_scores.h"

namespace bet {

// A third of validation that is held out, and the graph of everything else to train on.
struct RungTrainer::Fold {
  std::optional<Split> denser;
  std::optional<Graph> denser_graph;
  std::optional<Evaluator> evaluator;
  ModelOptions model;

  Fold(const TrainingContext& context, TrainingPart final_part, std::uint32_t number)
      : model(context.model) {
    model.seed += number;
    if (final_part != TrainingPart::kTrain) {
      denser = denser_split(context.split, model.seed);
      denser_graph = make_graph(*denser, TrainingPart::kTrain).to(context.graph.device());
    }
    evaluator.emplace(split(context), HeldOut::kValidation, graph(context));
  }

  const Split& split(const TrainingContext& context) const {
    return denser ? *denser : context.split;
  }
  const Graph& graph(const TrainingContext& context) const {
    return denser_graph ? *denser_graph : context.graph;
  }
};

RungTrainer::RungTrainer(const TrainingContext& context, TrainingPart final_part, bool choose_loss)
    : context_(context), final_part_(final_part), choose_loss_(choose_loss) {}

RungTrainer::~RungTrainer() = default;

const RungTrainer::Fold& RungTrainer::fold(std::uint32_t number) {
  if (folds_.size() <= number) folds_.resize(number + 1);
  if (!folds_[number]) folds_[number] = std::make_unique<Fold>(context_, final_part_, number);
  return *folds_[number];
}

TrainingHooks RungTrainer::hooks(const PartDone& part_done) const {
  TrainingHooks hooks;
  hooks.stop = context_.hooks.stop;
  hooks.leave = context_.hooks.leave;
  if (part_done) {
    hooks.progress = [&part_done](const Progress& progress) {
      part_done(progress.total > 0 ? progress.done / progress.total : 0);
    };
  }
  return hooks;
}

std::optional<LengthByBpr> RungTrainer::length(const SizePlan& plan, const PartDone& part_done) {
  const Fold& data = fold(0);
  return length_by_bpr(
      {data.split(context_), data.graph(context_), data.model, context_.schedule, hooks(part_done)},
      plan);
}

std::vector<double> RungTrainer::scores(std::span<const SizePlan* const> plans, const Rung& rung,
                                        std::uint64_t length, const PartDone& part_done) {
  const Fold& data = fold(rung.fold);
  const Graph& graph = data.graph(context_);
  ModelOptions model = data.model;
  const BackboneKind& backbone = find_backbone(model.backbone);
  const std::vector<LossOptions> given = model.losses_of(plans.size());
  model.losses.clear();
  Schedule schedule;
  std::vector<SizePlan> copies;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    LossOptions loss = for_length(given[i], context_.schedule.max_steps, length);
    if (choose_loss_) {
      loss = backbone.weights.empty() ? usual_loss(*plans[i], backbone, length) : LossOptions();
    }
    const ShortTraining training =
        short_training(context_.schedule, loss, backbone, length, rung.steps);
    schedule = training.schedule;
    model.losses.push_back(training.loss);
    copies.push_back(*plans[i]);
  }
  return trained_scores({data.split(context_), graph, model, schedule, hooks(part_done)}, copies,
                        *data.evaluator);
}

std::size_t RungTrainer::group_size(std::span<const SizePlan* const> plans) {
  // Enough columns to fill the vectors of a CPU and a GPU, and not much more memory than a table of
  // full width.
  constexpr std::uint32_t kColumns = 256;
  std::uint32_t columns = 0;
  std::size_t count = 0;
  while (count < plans.size() && (count == 0 || columns + plans[count]->width() <= kColumns)) {
    columns += plans[count++]->width();
  }
  return count;
}

ShortTraining short_training(const Schedule& schedule, const LossOptions& loss,
                             const BackboneKind& backbone, std::uint64_t length,
                             std::uint64_t steps) {
  ShortTraining training = {schedule.of_length(steps), for_length(loss, length, steps)};
  if (!backbone.weights.empty() || !schedule.linear) return training;
  const double factor = static_cast<double>(length) / static_cast<double>(steps);
  if (loss.kind == LossKind::kSoftmax && loss.score == ScoreKind::kDot) {
    training.loss.temperature /= std::max(1.0, factor / 2);
  } else {
    training.schedule.learning_rate *= factor;
  }
  return training;
}

}  // namespace bet
