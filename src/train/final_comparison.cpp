#include "train/final_comparison.h"

#include "train/denser_fold.h"
#include "train/score_noise.h"
#include "train/trained_scores.h"

namespace bet {

std::uint32_t folds_to_compare(const Split& split) {
  constexpr double kSmall = 0.01;
  const double users = measured_users(split, kFolds);
  std::uint32_t folds = 1;
  while (folds < kFolds && score_noise(users, folds) > kSmall) ++folds;
  return folds;
}

bool FinalComparison::is_clearly_better(double score, double other) const {
  return score > (1 + score_noise(measured_users(context_.split, kFolds), num_folds())) * other;
}

std::vector<double> FinalComparison::scores(std::span<const FinalCandidate> candidates,
                                            const std::function<void(double)>& part_done) const {
  double total = 0;
  for (const FinalCandidate& one : candidates) total += static_cast<double>(one.training.length);
  total *= num_folds();
  double done = 0;
  TrainingHooks hooks = context_.hooks;
  hooks.save = nullptr;
  if (context_.hooks.progress) {
    hooks.progress = [&](const Progress& progress) { part_done((done + progress.done) / total); };
  }
  std::vector<double> means(candidates.size());
  for (std::uint32_t fold = 0; fold < num_folds(); ++fold) {
    const DenserFold data(context_, final_part_, fold);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const LossOfLength& training = candidates[i].training;
      ModelOptions model = data.model();
      model.losses = {training.loss};
      const Schedule schedule = context_.schedule.of_length(training.length);
      const std::vector<double> scores =
          trained_scores({data.split(), data.graph(), model, schedule, hooks},
                         std::span(candidates[i].plan, 1), data.evaluator());
      if (scores.empty()) return {};
      means[i] += scores[0] / num_folds();
      done += static_cast<double>(training.length);
    }
  }
  return means;
}

}  // namespace bet
