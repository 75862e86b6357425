#include "cli/fit_phases.h"

#include "search/probe.h"

namespace bet {
namespace {

constexpr const char* kPretrain = "pretrain";
constexpr const char* kSearch = "search";
constexpr const char* kTrain = "train";
constexpr const char* kFinal = "final training";

}  // namespace

std::vector<Phase> phases_of(const FitCommand& options, const Split& split, bool nothing_to_cut) {
  const MethodKind* const method = options.kind();
  const auto columns = static_cast<double>(options.dim);
  const double steps = static_cast<double>(options.resolve().schedule.max_steps);
  std::vector<Phase> phases;
  double plans = 1;
  if (!nothing_to_cut) {
    const bool searches = method == nullptr;
    if (searches || method->pretrains) {
      phases.push_back({kPretrain, "full-size model", steps * columns});
    }
    if (searches) {
      const FitCommand::SearchChoice choice = options.resolve_search();
      const Schedule probe = finetune_schedule(choice.probe_schedule, split.counts().train,
                                               split.num_users(), choice.finetune_epochs);
      phases.push_back({kSearch, "search",
                        static_cast<double>(choice.options.num_iterations) *
                            static_cast<double>(probe.max_steps) * columns});
      plans = static_cast<double>(choice.retrain_top);
    } else if (method->trains) {
      phases.push_back({"", options.method, 0});
    }
  }
  phases.push_back({kTrain, "training", plans * steps * columns});
  if (options.resolve().final_part != TrainingPart::kTrain) {
    phases.push_back({kFinal, "final training", steps * columns});
  }
  return phases;
}

void set_training_work(RunProgress& progress, double columns, double widest,
                       const Schedule& schedule, const Pretrained* full) {
  const std::uint64_t steps = full != nullptr ? full->steps : schedule.max_steps;
  const std::uint64_t best = full != nullptr ? full->best_length : schedule.max_steps;
  progress.set_work(kTrain, columns * static_cast<double>(steps));
  progress.set_work(kFinal, widest * static_cast<double>(best));
}

}  // namespace bet
