#include "run/fit_phases.h"

#include <algorithm>

#include "search/method.h"

namespace bet {
namespace {

constexpr const char* kPretrain = "pretrain";
constexpr const char* kSearch = "search";
constexpr const char* kTrain = "train";
constexpr const char* kLoss = "loss";
constexpr const char* kFinal = "final training";

// The choice of the loss in trainings of the final length: five losses, half as long.
constexpr double kLossWork = 2.5;

}  // namespace

double plan_columns(std::uint32_t dim, double share) {
  constexpr double kOfOneSide = 2.5;  // many good plans give nearly all to one of the sides
  return dim * std::min(1.0, kOfOneSide * share);
}

std::vector<Phase> phases_of(const FitOptions& resolved, const Split& split, bool nothing_to_cut,
                             double share) {
  const MethodKind& method = method_of(resolved);
  const RetrainingOptions training = retraining_options(search_options(resolved));
  const double columns = plan_columns(resolved.dim, share);
  const RetrainingOptions retraining = retraining_options(resolved);
  const double search_steps = static_cast<double>(training.schedule.max_steps);
  const double steps = static_cast<double>(retraining.schedule.max_steps);
  const bool chooses = resolved.loss == LossSetting::kAuto;
  std::vector<Phase> phases;
  double plans = 1;
  if (!nothing_to_cut) {
    if (method.pretrains) {
      phases.push_back({kPretrain, "full-size model", search_steps * resolved.dim});
    }
    if (method.expected_work != nullptr) {
      const SearchWork work = method.expected_work(resolved.search, retraining, chooses, split);
      phases.push_back({kSearch, "search", work.steps * columns});
      plans = work.plans;
    } else if (method.trains || (method.chooses_precision && !resolved.precision)) {
      phases.push_back({"", resolved.method, 0});
    }
  }
  phases.push_back({kTrain, "training", plans * steps * columns});
  if (chooses && (nothing_to_cut || !method.chooses_loss)) {
    phases.push_back({kLoss, "choice of the loss", kLossWork * steps * columns});
  }
  // A loss that was chosen has a training of its own.
  if (resolved.final_part != TrainingPart::kTrain || chooses) {
    phases.push_back({kFinal, "final training", steps * columns});
  }
  return phases;
}

void set_training_work(RunProgress& progress, double columns, double widest,
                       const Schedule& schedule, const Pretrained* full) {
  const std::uint64_t steps = full != nullptr ? full->steps : schedule.max_steps;
  const std::uint64_t best = full != nullptr ? full->best_length : schedule.max_steps;
  progress.set_work(kTrain, columns * static_cast<double>(steps));
  progress.set_work(kLoss, kLossWork * widest * static_cast<double>(best));
  progress.set_work(kFinal, widest * static_cast<double>(best));
}

}  // namespace bet
