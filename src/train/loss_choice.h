#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/state_file.h"
#include "train/trainer.h"

namespace bet {

// A loss for as many steps as are best for it.
struct LossOfLength {
  LossOptions loss;
  std::uint64_t length = 0;
};

struct LossChoice {
  LossOfLength chosen;            // by BPR, of half the schedule at most
  std::vector<LossTrial> trials;  // in the order in which they were made
  bool stopped = false;           // by the hook, before all were tried
  // A softmax that was better than BPR by little: final trainings by both should be compared.
  bool nearly_bpr = false;
};

// The softmax that suits plans of this size without a trial: its temperature grows with the square
// root of the parameters of a row and with the length of the training (docs/studies/loss.md).
LossOptions usual_loss(const SizePlan& plan, const BackboneKind& backbone, std::uint64_t steps);

// The losses that a choice is among, of a training of `steps` steps: BPR, the usual softmax with
// half, once and twice its temperature, and a softmax of cosines where the backbone has them.
// Where the plan is quantised and the backbone has another rate for that, there are no cosines,
// which were never best, but the usual softmax with once and twice its temperature at that rate. In
// this order; losses that can be trained side by side stand together.
std::vector<LossOptions> losses_to_try(const SizePlan& plan, const BackboneKind& backbone,
                                       std::uint64_t steps);
std::size_t most_losses_to_try(const BackboneKind& backbone);
inline constexpr std::size_t kTriedBpr = 0;
inline constexpr std::size_t kTriedUsual = 2;
inline constexpr std::size_t kTriedFast = 4;  // of a quantised plan

// Whether the plan has losses of another rate.
bool has_fast_loss(const SizePlan& plan, const BackboneKind& backbone);
// Whether two losses can be trained side by side.
inline bool are_alike(const LossOptions& a, const LossOptions& b) {
  return a.kind == b.kind && a.score == b.score && a.rate == b.rate;
}

// Chooses the loss of a plan and how long to train by it, on the split and the graph of `context`,
// which should be as dense as those of the training (DenserFold). Tries BPR at its best length,
// which also tells whether data are few (train/length_by_bpr.h), or else for the whole schedule,
// and the softmaxes of losses_to_try() for the whole schedule or, where data are few, at
// `usual_length`, which was best for the usual one. Then more temperatures, until the best is
// between two others (train/temperature.h). Takes the best on validation, and of a softmax of dot
// products the best temperature; of plans of vectors never BPR. hooks.save is not used: an
// interrupted choice begins again.
LossChoice choose_loss(const TrainingContext& context, const SizePlan& plan,
                       std::uint64_t usual_length);

// A final training, and the length on train that it was made from.
struct KnownTraining {
  LossOfLength training;
  std::uint64_t best_length = 0;
};

// What was chosen for a final training before, in a cache; an empty path: no cache. What fails is
// logged and ignored.
std::optional<KnownTraining> remembered_training(const StateFile& cache,
                                                 const TrainingHooks& hooks);
void remember_training(const KnownTraining& chosen, const StateFile& cache,
                       const TrainingHooks& hooks);

// "0.12345"
std::string score_text(double score);

// The work of a choice, in trainings by the whole schedule: BPR for half of it and for all of it,
// softmaxes of dot products, side by side, and of cosines. Its progress leaves room for what
// follows where BPR is chosen: a training by which its length is found.
inline constexpr double kChoiceTrainings = 3.5;
inline constexpr double kFollowingTrainings = 1;

// Under their names in a checkpoint; the latter returns BPR of dot products where there is none, as
// in states of earlier versions.
void save_loss(Checkpoint& checkpoint, const LossOptions& loss);
LossOptions load_loss(const Checkpoint& checkpoint);

}  // namespace bet
