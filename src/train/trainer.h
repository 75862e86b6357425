#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/split.h"
#include "train/metrics.h"
#include "train/model_state.h"
#include "train/training_curve.h"
#include "train/training_hooks.h"

namespace bet {

// What a training works with. Everything referred to must outlive it.
struct TrainingContext {
  const Split& split;
  const Graph& graph;  // of the interactions to train on; the training runs on its device
  const ModelOptions& model;
  const Schedule& schedule;
  const TrainingHooks& hooks;
};

inline constexpr std::uint64_t kLossPoints = 32;

struct TrainingResult {
  // On the CPU. The best weights on validation, or the last ones of a training that runs to the end
  // of its schedule, as linear decays and trainings of fixed steps do.
  ModelParameters table;
  std::uint64_t steps = 0;  // made in trainings of every length
  // The steps that a training of this plan should have: those made when validation was best, or,
  // with a linear decay, the length of the whole schedule that was best at its end.
  std::uint64_t best_length = 0;
  double best_rate = 1;   // and its learning rate, as a multiple of the schedule's
  Metrics validation;     // of these weights; zero for a training of fixed steps
  bool overfits = false;  // validation fell clearly on the way
  bool few_data = false;  // with a linear decay: less than the whole length was better, at its rate
  bool stopped = false;   // by the hook
  // Of the training of these weights. A training of fixed steps has the loss alone: at about
  // kLossPoints steps where hooks.save keeps the training, else at the last one.
  std::vector<Measurement> history;
  double step_seconds = 0;  // mean of a step, without measurements and saves; of all plans together
  double measure_seconds = 0;  // the last measurement of all plans
};

// Trains plans side by side; each result is as if the plan had been trained alone, up to rounding.
// Without a linear decay until validation no longer improves for any of them (Schedule::patience),
// and the best weights are kept. A linear decay always runs to its end; where validation falls on
// the way (small data), shorter schedules are tried too and, for models that are trained by BPR,
// lower rates, unless `rates` is kUsual (train/training_length.h). `state`, if not null, is a
// checkpoint of this very training to resume from.
enum class Rates { kUsual, kAny };
std::vector<TrainingResult> train_to_convergence(const TrainingContext& context,
                                                 std::span<const SizePlan> plans,
                                                 const Checkpoint* state = nullptr,
                                                 Rates rates = Rates::kAny);

// Trains plans side by side for all steps of the schedule and keeps the last weights; validation is
// not measured.
std::vector<TrainingResult> train_steps(const TrainingContext& context,
                                        std::span<const SizePlan> plans,
                                        const Checkpoint* state = nullptr);

}  // namespace bet
