#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/trainer.h"

namespace bet {

// From plans to a final model (METHOD section 7): train them on `train` (train_to_convergence),
// choose the best on validation (the paper's selective retraining, if there are several), then
// train that plan with fresh parameters on `final_part` for as many steps as were best, or as many
// passes over the data (Schedule::final_by_passes), and look at test once.
struct RetrainingOptions {
  ModelOptions model;
  Schedule schedule;
  TrainingPart final_part = TrainingPart::kTrainAndValidation;
  at::Device device = at::kCPU;
};

struct RetrainingResult {
  std::size_t chosen = 0;                // of the plans
  std::vector<Metrics> plan_validation;  // by plan: of its best weights
  Metrics validation;                    // of the weights that were chosen
  Metrics test;           // of the final model; num_users is 0 if nothing is held out from it
  ModelParameters table;  // the final model, on the CPU
  std::uint64_t train_steps = 0;
  std::uint64_t best_length = 0;  // TrainingResult::best_length
  std::uint64_t final_steps = 0;
  double train_seconds = 0;  // of this process
  double final_seconds = 0;
  double train_step_seconds = 0;  // a step of the training and of the final one, on its own
  double final_step_seconds = 0;
  double measure_seconds = 0;  // the last look at validation: vectors, full ranking, metrics
  bool interrupted = false;
};

// `folder` keeps the state (state.ckpt) and in the end the final model (final.ckpt). With `resume`
// a state found there is gone on from, to the same bits as without the break; `identity` (data hash
// and options) must be the one it was written with.
RetrainingResult retrain_plans(const Split& split, std::span<const SizePlan> plans,
                               const RetrainingOptions& options, const TrainingHooks& hooks,
                               const std::filesystem::path& folder, const std::string& identity,
                               bool resume);
inline RetrainingResult retrain_plan(const Split& split, const SizePlan& plan,
                                     const RetrainingOptions& options, const TrainingHooks& hooks,
                                     const std::filesystem::path& folder,
                                     const std::string& identity, bool resume) {
  return retrain_plans(split, std::span(&plan, 1), options, hooks, folder, identity, resume);
}

// Whether `folder` has a state to go on from.
bool has_retraining_state(const std::filesystem::path& folder);
// Removes it, if there is one.
void drop_retraining_state(const std::filesystem::path& folder);

// The final model as kept in final.ckpt.
struct FinalModel {
  ModelParameters table;
  std::string identity;
};
FinalModel read_final_model(const std::filesystem::path& folder, const TableShape& shape);

}  // namespace bet
