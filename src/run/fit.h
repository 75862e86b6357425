#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "run/fit_options.h"
#include "run/fit_report.h"
#include "run/progress_tracker.h"
#include "run/run_data.h"

namespace bet {

class World;

enum class FitMode {
  kNew,             // refuses a folder that exists
  kOverwrite,       // replaces a run
  kResume,          // continues a run that was interrupted; a complete one is left as it is
  kContinueSearch,  // continues a search that was cut short, and trains its best plans again
};

// A run: from interactions to a model file inside a memory budget.
struct FitJob {
  FitOptions options;
  std::filesystem::path folder;  // of the run; empty: default_folder()
  FitMode mode = FitMode::kNew;
  std::shared_ptr<const RunData> data = {};  // of the options; null: loaded by the run
  // The processes that make this run together, each with the same job: the trainings of the search,
  // or the columns of the table, are divided among them (FitOptions::divide). Rank 0 has the folder
  // and the callbacks; the others only help, and their result is empty. Of their callbacks `began`
  // and `leave` are called, where columns are divided. Null: this one alone.
  std::shared_ptr<World> ranks = {};
};

// What a stop that is asked for now would do.
enum class StopEffect {
  kFinishes,  // ends the work in progress; the run finishes with the best so far
  kLeaves,    // saves the state and ends the run, because no model could be finished yet
};

// What the caller of a run hears of it and may ask of it. All may be empty; they are called from
// the thread that called fit().
struct FitCallbacks {
  std::function<void(const std::string&)> message;  // a line for people; the log has it as well
  ProgressCallbacks progress;
  // Asked before each step. Once true, the work in progress ends with the best so far, and the run
  // continues from there.
  std::function<bool()> stop;
  // Asked before each step. Once true, the run is saved and fit() throws Interrupted.
  std::function<bool()> leave;
  // The run's folder is there, and the run can be resumed from now on.
  std::function<void(const std::filesystem::path& folder)> began;
  std::function<void(StopEffect)> stop_effect;  // from now on
};

struct FitResult {
  std::filesystem::path folder;
  FitReport report;
};

// Trains inside the budget and leaves a run folder with model file, report and log
// (base/run_files.h). Errors have a kind (bet/error.h): kBudget where the budget cannot be met,
// kInterrupted, naming the command that resumes the run, where a callback ended it early.
FitResult fit(const FitJob& job, const FitCallbacks& callbacks = {});

// The job that resumes the run in a folder as it was started.
FitJob resume_job(const std::filesystem::path& folder);

}  // namespace bet
