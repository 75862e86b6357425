#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/run_files.h"
#include "train/loss_choice.h"
#include "train/state_file.h"
#include "train/trainer.h"

namespace bet {

// From plans to a final model (BET paper, Sections 3.5 and 4.2): train the plans on `train`
// (train_to_convergence), choose the best on validation (the paper's selective retraining, if there
// are several), then train that plan with fresh parameters on `final_part` for as many steps as
// were best, or as many passes over the data (Schedule::final_by_passes), and measure on test once.
struct RetrainingOptions {
  ModelOptions model;
  Schedule schedule;
  TrainingPart final_part = TrainingPart::kTrainAndValidation;
  at::Device device = at::kCPU;
};

struct RetrainingResult {
  std::size_t chosen = 0;                // of the plans
  std::vector<Metrics> plan_validation;  // by plan: of its best weights
  std::vector<double> final_scores;      // by plan, of PlanChoice::kAtFinalDensity; else empty
  Metrics validation;                    // of the weights that were chosen
  Metrics test;           // of the final model; num_users is 0 if nothing is held out from it
  ModelParameters table;  // the final model, on the CPU; of several ranks, rank 0 alone has it
  std::vector<Measurement> train_curve;  // of the training that chose the weights
  std::vector<Measurement> final_curve;  // of the final training, if there was one
  std::uint64_t train_steps = 0;
  std::uint64_t best_length = 0;   // TrainingResult::best_length
  std::uint64_t final_length = 0;  // steps of the schedule of the final training
  std::uint64_t final_steps = 0;
  double train_seconds = 0;  // in this process
  double final_seconds = 0;
  double train_step_seconds = 0;  // a step of the training and of the final one, on its own
  double final_step_seconds = 0;
  double measure_seconds = 0;  // the last measurement on validation: vectors, full ranking, metrics
  bool interrupted = false;
  LossOptions loss;                    // of the final model
  std::vector<LossTrial> loss_trials;  // made in this process
};

// What a search knows of the trainings that follow it.
struct KnownLoss {
  LossOptions loss;           // for as many steps as the schedule has
  bool whole_length = false;  // which are best; or fewer, to be found
};

// How the loss of the final training is found: that of the context's model, or, with `choose`, the
// best for the chosen plan: `known` from a search that has compared losses too, or found by
// choose_loss() after each plan was trained by its usual one.
struct LossSearch {
  bool choose = false;
  std::optional<KnownLoss> known = {};
  std::filesystem::path cache = {};  // folder; empty: none
  std::string identity = {};         // of data and options, for the cache
};

// How one of several plans is chosen after each was trained on train.
enum class PlanChoice {
  kOnValidation,  // by the weights of these trainings: the paper's selective retraining
  // By the mean score of trainings as the final one will be, on the folds of DenserFold: a plan may
  // gain more than another from the interactions of validation. The last plan is taken unless
  // another is better by more than noise.
  kAtFinalDensity
};

// The folder of a retraining: its state while it runs, then the final model.
struct RetrainingFolder {
  std::filesystem::path path;
  std::string identity;  // of data and options: a state written under another one is refused
  bool resume = false;   // from the state in the folder, if there is one

  StateFile state() const { return {CheckpointFiles{path}.retraining(), identity}; }
  StateFile final_model() const { return {CheckpointFiles{path}.final_model(), identity}; }
};

// `context` is for the training on `train`; the final training uses its split, options and hooks. A
// resumed retraining comes to the same bits as one without a break.
//
// Where the context's model is trained by several ranks, each of them makes this call with the same
// arguments (there is one plan, and its loss is given). Rank 0 alone reads and writes the folder;
// it needs the memory of the whole table at the end.
RetrainingResult retrain_plans(const TrainingContext& context, TrainingPart final_part,
                               std::span<const SizePlan> plans, const RetrainingFolder& folder,
                               const LossSearch& loss = {},
                               PlanChoice choice = PlanChoice::kOnValidation);

// The final model as kept in final.ckpt.
struct FinalModel {
  ModelParameters table;
  LossOptions loss;
  std::string identity;
};
FinalModel read_final_model(const std::filesystem::path& folder, const TableShape& shape);

}  // namespace bet
