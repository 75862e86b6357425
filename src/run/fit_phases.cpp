#include "run/fit_phases.h"

#include <algorithm>

#include "search/method.h"
#include "train/final_comparison.h"

namespace bet {
namespace {

constexpr const char* kPretrain = "pretrain";
constexpr const char* kSearch = "search";
constexpr const char* kTrain = "train";
constexpr const char* kLoss = "loss";
constexpr const char* kFinal = "final training";

// The choice of the loss in trainings of the final length: five losses, half as long.
constexpr double kLossWork = 2.5;

// Trainings of 1/8 and 1/32 of the length follow one whose rate falls to zero, and by BPR, where
// the backbone has a far rate, one at that rate (train/training_length.h).
constexpr double kWithShorter = 1 + 1.0 / 8 + 1.0 / 32;

// What a step costs for each column, in nanoseconds of one thread: propagation, Adam and the rest
// (docs/scale.md). Only its ratio between parts of the data counts.
double column_cost(const FitOptions& resolved, const Split& split, double interactions) {
  constexpr double kOfInteraction = 1.8;
  constexpr double kOfRow = 10;
  const double rows = kOfRow * (split.num_users() + split.num_items());
  return find_backbone(resolved.backbone).uses_graph ? rows + kOfInteraction * interactions : rows;
}

struct PartCosts {
  double train = 0;
  double search = 0;  // at the density of the final training, but for a third of validation
  double final_training = 0;
  std::uint64_t num_train = 0;
  std::uint64_t num_final = 0;
};

PartCosts costs_of(const FitOptions& resolved, const Split& split) {
  const Split::Counts counts = split.counts();
  PartCosts costs;
  costs.num_train = costs.num_final = counts.train;
  auto search = static_cast<double>(counts.train);
  if (resolved.final_part != TrainingPart::kTrain) {
    search += 2.0 / 3 * static_cast<double>(counts.validation);
    costs.num_final += counts.validation;
  }
  if (resolved.final_part == TrainingPart::kAll) costs.num_final += counts.test;
  costs.train = column_cost(resolved, split, static_cast<double>(costs.num_train));
  costs.search = column_cost(resolved, split, search);
  costs.final_training = column_cost(resolved, split, static_cast<double>(costs.num_final));
  return costs;
}

// Of the trainings of plans, whose best length is about `best`.
struct TrainingWorks {
  double train = 0;
  double loss = 0;
  double final_training = 0;
};

TrainingWorks works_of(const FitOptions& resolved, const Split& split, const PlansToTrain& plans) {
  const Schedule schedule = retraining_options(resolved).schedule;
  const PartCosts costs = costs_of(resolved, split);
  double trials = 1;
  if (schedule.linear && plans.full == nullptr) {
    trials = kWithShorter;
    const bool tries_rate = find_backbone(resolved.backbone).fast.far_rate > 1;
    if (tries_rate && resolved.loss == LossSetting::kBpr) trials += 1;
  }
  const auto steps =
      static_cast<double>(plans.full != nullptr ? plans.full->steps : schedule.max_steps);
  const std::uint64_t best = plans.full != nullptr ? plans.full->best_length : schedule.max_steps;
  const auto final_steps = static_cast<double>(
      schedule.final_schedule(best, 1, false, costs.num_train, costs.num_final).max_steps);
  double train = plans.columns * steps * trials * costs.train;
  if (plans.choice == PlanChoice::kAtFinalDensity && resolved.final_part != TrainingPart::kTrain) {
    train += folds_to_compare(split) * plans.columns * final_steps * costs.search;
  }
  return {train, kLossWork * plans.widest * final_steps * costs.search,
          plans.widest * final_steps * costs.final_training};
}

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
  const PartCosts costs = costs_of(resolved, split);
  const bool chooses = resolved.loss == LossSetting::kAuto;
  std::vector<Phase> phases;
  PlansToTrain plans{.columns = columns, .widest = columns};
  if (!nothing_to_cut) {
    if (method.pretrains) {
      phases.push_back({kPretrain, "full-size model", search_steps * resolved.dim * costs.train});
    }
    if (method.expected_work != nullptr) {
      const SearchWork work = method.expected_work(resolved.search, retraining, chooses, split);
      phases.push_back({kSearch, "search", work.steps * columns * costs.search});
      plans.columns *= work.plans;
      plans.choice = work.choice;
    } else if (method.trains || (method.chooses_precision && !resolved.precision)) {
      phases.push_back({"", resolved.method, 0});
    }
  }
  const TrainingWorks works = works_of(resolved, split, plans);
  phases.push_back({kTrain, "training", works.train});
  if (chooses && (nothing_to_cut || !method.chooses_loss)) {
    phases.push_back({kLoss, "choice of the loss", works.loss});
  }
  // A loss that was chosen has a training of its own.
  if (resolved.final_part != TrainingPart::kTrain || chooses) {
    phases.push_back({kFinal, "final training", works.final_training});
  }
  return phases;
}

void set_training_work(RunProgress& progress, const FitOptions& resolved, const Split& split,
                       const PlansToTrain& plans) {
  const TrainingWorks works = works_of(resolved, split, plans);
  progress.set_work(kTrain, works.train);
  progress.set_work(kLoss, works.loss);
  progress.set_work(kFinal, works.final_training);
}

}  // namespace bet
