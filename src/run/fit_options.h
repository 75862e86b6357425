#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/precision.h"
#include "data/training_part.h"
#include "kernels/batch_draw.h"
#include "model/loss_options.h"
#include "model/row_precision.h"
#include "plan/budget.h"
#include "plan/plan_sampler.h"
#include "run/data_options.h"
#include "search/method_options.h"

namespace bet {

struct MethodKind;
struct RetrainingOptions;

// What models are trained to make small; kAuto: plans are searched by BPR, retrained by the
// softmax, and the chosen one is trained by the best of several losses (train/loss_choice.h).
enum class LossSetting : std::uint8_t { kAuto, kBpr, kSoftmax };

// Whether the model file has the items that users have: kAuto leaves them out only where a budget
// for the file holds no table beside them.
enum class SeenItems : std::uint8_t { kAuto, kKeep, kDrop };

// What several processes that make one run divide among them: the trainings of a search, or the
// columns of one table that is too large for one machine.
enum class Division : std::uint8_t { kTrainings, kColumns };

// All that decides the result of a run, and how fast it comes. What is optional and not given is
// set by with_defaults(). The table of these options is in run/option_table.h.
struct FitOptions {
  DataOptions data;
  std::optional<Budget> budget;
  std::string method = "bet";
  MethodOptions search;  // of the method
  std::string backbone = "lightgcn";
  Effort effort = Effort::kNormal;
  // What the budget is for. None: of an amount of bytes the file, else the table.
  std::optional<BudgetFor> budget_for;
  std::string schedule;  // "fast" or "paper"; empty: not given
  std::optional<BatchKind> batches;
  LossSetting loss = LossSetting::kAuto;
  ScoreKind score = ScoreKind::kDot;
  std::optional<double> temperature;       // of the softmax
  std::optional<std::uint32_t> negatives;  // of a pool; 1: each pair has its own
  std::optional<double> learning_rate;
  std::optional<std::uint64_t> max_steps;
  std::optional<std::uint64_t> measure_steps;
  std::optional<std::uint32_t> patience;
  std::optional<std::uint32_t> batch_size;
  RowPrecision rows = RowPrecision::kFloat32;
  // Of the model file; rows of integers are trained as they are stored. None: chosen with the plan
  // where the budget is one of bytes, else fp32.
  std::optional<Precision> precision;
  // The model file has vectors instead of table and graph. None: no, or, where a budget for the
  // file leaves the choice to the search, what is better.
  std::optional<bool> materialised;
  SeenItems seen = SeenItems::kAuto;
  TrainingPart final_part = TrainingPart::kTrainAndValidation;
  std::string device = "cpu";
  std::uint32_t dim = 128;
  std::optional<std::uint32_t> min_dim;
  std::uint64_t seed = 1;
  std::uint32_t threads = 0;  // 0: one per core
  std::string cache;          // folder of pretrained models; empty: under the user's cache folder
  Division divide = Division::kTrainings;
};

// The same with everything set that the method, backbone and effort decide. Throws on options that
// contradict each other. Does nothing to options that it returned.
FitOptions with_defaults(FitOptions options);

// The part of resolved options that retraining needs, on the CPU: the device is the caller's.
RetrainingOptions retraining_options(const FitOptions& resolved);
// The options as they are for what comes before retraining: BPR in place of --loss auto, so that
// all budgets share a pretrained model, and no more steps than the schedule's own.
FitOptions search_options(FitOptions resolved);

// The options with the loss that was chosen.
FitOptions with_loss(FitOptions options, const LossOptions& loss);

const MethodKind& method_of(const FitOptions& options);

// Whether the file will have propagated vectors instead of the table; false where that is chosen
// with the plan.
bool serves_vectors(const FitOptions& options);
// Whether these vectors are trained as they are stored. Otherwise they are those of a table that a
// budget of parameters counts, or of a backbone that cannot do so, and are rounded after training.
bool trains_vectors(const FitOptions& resolved);
// Whether the search compares plans of tables and of vectors.
bool chooses_form(const FitOptions& resolved);

// The precision in which rows are trained, where the method chooses none. Of resolved options.
TablePrecision usual_precision(const FitOptions& resolved);

// The table before any budget, with what the method's plans may have. Of resolved options.
TableShape table_shape(const FitOptions& resolved, const Dataset& dataset);

// Where runs are kept by default: runs/<data>-<backbone>-<method>-<budget>-<seed>, and behind it
// what is not the default of split, filters, precision and serving.
std::filesystem::path default_folder(const FitOptions& options);

}  // namespace bet
