#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "data/split.h"
#include "model/loss_options.h"
#include "plan/budget.h"
#include "plan/size_plan.h"
#include "run/run_details.h"
#include "train/metrics.h"

namespace bet {

// What report.json says of a run, as values (run/report_json.h reads and writes them).
struct FitReport {
  struct Data {
    std::string name;
    std::uint64_t users = 0;
    std::uint64_t items = 0;
    std::uint64_t interactions = 0;
    std::string hash;
    std::string text_ids;  // as of Dataset; not in report.json
    SplitKind split = SplitKind::kRandom;
    std::uint64_t split_seed = 0;
    Split::Counts parts;
  };
  Data data;
  std::string backbone;
  std::string method;
  std::uint64_t seed = 0;

  std::optional<ResolvedBudget> budget;

  struct Used {
    std::uint64_t params = 0;
    double share = 0;  // of the full table's parameters, to four digits
    std::uint64_t bytes = 0;
    std::uint64_t file_bytes = 0;
    std::optional<TablePrecision> precision;  // of the file; none in reports of earlier versions
    // How the file is served; none in reports of earlier versions.
    struct File {
      std::string serving;  // "graph" or "materialised"
      bool with_seen = true;
    };
    std::optional<File> file = {};
  };
  Used used;

  Metrics validation;                 // of the chosen plan, retrained
  Metrics test;                       // of the model file; num_users is 0 where nothing is held out
  std::optional<Metrics> as_trained;  // on test, where the file does not have the very values
  std::optional<Metrics> full_validation;  // of the full-size model, where there is one

  // A plan that the search measured.
  struct MeasuredPlan {
    std::uint32_t iteration = 0;
    std::string strategy;
    std::optional<double> predicted;
    double fitness = 0;
    double user_share = 0;
    std::string user_family;
    std::string item_family;
    double user_shape = 0;
    double item_shape = 0;
    double user_kept = 1;
    double item_kept = 1;
    TablePrecision precision;
    StoredForm form = StoredForm::kTable;
    std::uint64_t steps = 0;
    std::uint32_t fold = 0;
    LossOptions loss;
    std::optional<std::uint64_t>
        plan;  // its number, the same in every rung; none: earlier versions
    std::uint32_t largest_size = 0;
    double seconds = 0;
    std::optional<double> predictor_loss = {};
  };
  // How the loss was chosen, with --loss auto.
  struct Loss {
    LossOptions chosen;
    std::vector<LossTrial> trials;  // empty where an earlier run knew the best
  };
  std::optional<Loss> loss;

  std::optional<std::uint64_t> planned_trials;
  std::vector<MeasuredPlan> trials;
  std::string note;  // of the method, for whoever reads the figures; may be empty

  // A plan that was retrained, known by the search's iteration or by the method's label.
  struct Retrained {
    std::optional<std::uint32_t> iteration;
    std::string label;
    Metrics validation;
    std::optional<double> final_score = {};  // RetrainingResult::final_scores
  };
  std::vector<Retrained> retrained;  // empty where there was no choice
  std::size_t chosen = 0;            // of `retrained`
  bool interrupted = false;

  struct Trainings {
    std::uint64_t search = 0;
    std::uint64_t retrain = 0;
  };
  Trainings trainings;
  struct Steps {
    std::uint64_t pretrain = 0;
    std::uint64_t search = 0;
    std::uint64_t train = 0;
    std::uint64_t best = 0;
    std::uint64_t final_training = 0;
  };
  Steps steps;
  struct Seconds {
    double load = 0;
    double pretrain = 0;
    double search = 0;
    double search_own = 0;
    double search_waited = 0;
    double retrain = 0;
    double final_training = 0;
    double model_file = 0;
    double total = 0;
  };
  Seconds seconds;
  struct Milliseconds {
    double train_step = 0;
    double final_step = 0;
    double measure = 0;
  };
  Milliseconds milliseconds;
  std::string device;
  std::uint32_t threads = 0;
  std::uint32_t ranks = 1;  // processes that searched together
  std::uint64_t peak_rss_bytes = 0;
  struct Versions {
    std::string bet;
    std::string commit;  // empty where it is not known
    std::string torch;
    std::string kernels;
  };
  Versions versions;
  RunDetails details;
};

}  // namespace bet
