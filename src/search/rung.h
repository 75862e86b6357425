#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "train/denser_fold.h"
#include "train/length_by_bpr.h"
#include "train/trainer.h"

namespace bet {

// A level of the search's measurements: plans trained from scratch, the shorter the more there are.
struct Rung {
  std::uint64_t steps = 0;
  std::uint32_t fold = 0;  // of kFolds, which hold out other items and begin from other values
};

// What is trained: a plan, by a loss that suits a whole training, on a fold.
struct PlanAndLoss {
  const SizePlan* plan = nullptr;
  LossOptions loss;
  std::uint32_t fold = 0;
};

// The loss of a training in a rung, and its schedule.
struct ShortTraining {
  Schedule schedule;
  LossOptions loss;
};

// A short training that ranks plans as one of `length` steps does (docs/studies/rungs.md). The rate
// of BPR is higher, and the temperature of a softmax lower, than would be best for the short
// training itself: so plans that learn slowly come as far as they do in the whole one. Dense
// weights bear no higher rate, and neither does a schedule whose rate does not fall to zero at its
// end.
ShortTraining short_training(const Schedule& schedule, const LossOptions& loss,
                             const BackboneKind& backbone, std::uint64_t length,
                             std::uint64_t steps);

// The fewest steps that rank plans as a training of `length` steps does: a 16th of it and at least
// 50. With dense weights, which bear no higher rate, an eighth and at least 100.
std::uint64_t fewest_ranking_steps(const BackboneKind& backbone, std::uint64_t length);

// Trains plans for a search and measures them, at the density of the final training (DenserFold).
// All plans of a fold see the same batches. One thread.
class RungTrainer {
 public:
  // The context is that of the retraining: its graph is the one of train, its schedule has the
  // whole length. With `choose_loss` plans are trained by any of losses_to_try().
  RungTrainer(const TrainingContext& context, TrainingPart final_part, bool choose_loss);

  // Told, during a training, which part of it is done.
  using PartDone = std::function<void(double)>;

  // How long this plan is best trained, as a share of the schedule. None if hooks.stop ended it.
  std::optional<LengthByBpr> length(const SizePlan& plan, const PartDone& part_done = {});

  // The losses of a whole training of `steps` steps that a plan may have, and which of them
  // compares plans before their best is known: the usual one, or BPR where the backbone has dense
  // weights, since it ranks plans there as their best loss does and depends on no temperature.
  // Quantised plans are compared at the higher rate, where data are not few: in short trainings at
  // the usual one few bits lag behind.
  std::vector<LossOptions> losses(const SizePlan& plan, std::uint64_t steps) const;
  std::size_t first_loss(const SizePlan& plan, bool few_data) const;

  // Scores after so many steps, trained side by side, on one fold; `length` is the best length of a
  // whole training, which shorter ones imitate. Empty if hooks.stop ended it.
  std::vector<double> scores(std::span<const PlanAndLoss> trained, std::uint64_t steps,
                             std::uint64_t length, const PartDone& part_done = {});

  // The part of a score on a fold by which another must be better where less may be noise.
  double noise() const;

  const BackboneKind& backbone() const { return find_backbone(context_.model.backbone); }

  // Steps of the schedule.
  std::uint64_t whole_length() const { return context_.schedule.max_steps; }

  // Which of these are trained side by side: the end of each group, in whose table there are
  // `most_columns` columns or one plan. Of several ranks, which take one when they have none and
  // the dearest first, all are busy about as long.
  static std::vector<std::size_t> groups(std::span<const PlanAndLoss> trained,
                                         const BackboneKind& backbone, std::uint32_t most_columns,
                                         const at::Device& device, std::uint32_t num_ranks);
  std::vector<std::size_t> groups(std::span<const PlanAndLoss> trained,
                                  std::uint32_t num_ranks) const {
    return groups(trained, backbone(), most_columns(), context_.graph.device(), num_ranks);
  }
  std::uint32_t most_columns() const;

  at::Device device() const { return context_.graph.device(); }

 private:
  // Only the last one is kept: a fold has a copy of the data.
  const DenserFold& fold(std::uint32_t number);
  TrainingHooks hooks(const PartDone& part_done) const;

  TrainingContext context_;
  TrainingPart final_part_;
  bool choose_loss_;
  std::optional<DenserFold> fold_;
  std::uint32_t fold_number_ = 0;
};

}  // namespace bet
