#include "run/many_runs.h"

#include <algorithm>

#include "base/error.h"
#include "base/run_files.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

// Complete runs are read, others begun or resumed.
FitMode mode_of(const fs::path& folder) {
  const RunFiles files{folder};
  if (fs::exists(files.config())) return FitMode::kResume;
  return fs::exists(folder) ? FitMode::kOverwrite : FitMode::kNew;
}

bool is_complete(const ComparedRun& run) { return fs::exists(RunFiles{run.folder}.report()); }

class ManyRuns {
 public:
  ManyRuns(std::span<ComparedRun> runs, const CompareCallbacks& callbacks)
      : runs_(runs), callbacks_(callbacks) {}

  void make_all(const std::function<void()>& made) {
    for (ComparedRun& run : runs_) {
      const bool was_complete = is_complete(run);
      report(callbacks_.run_begins, run);
      if (!was_complete) load_data_of(run);
      make(run);
      ++done_;
      if (!was_complete && run.report && made) made();
      report(callbacks_.run_ended, run);
    }
  }

 private:
  void load_data_of(const ComparedRun& run) {
    const std::string& path = run.options.data.path;
    if (data_ && data_path_ == path) return;
    data_ = std::make_shared<const RunData>(load_run_data(run.options.data));
    data_path_ = path;
  }

  void make(ComparedRun& run) {
    const bool has_data = data_ && data_path_ == run.options.data.path;
    try {
      run.report = fit({run.options, run.folder, mode_of(run.folder), has_data ? data_ : nullptr},
                       callbacks_.fit)
                       .report;
    } catch (const Interrupted&) {
      throw Interrupted(str_cat("stopped at run ", done_ + 1, " of ", runs_.size(),
                                "; the same command continues"));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBudget) throw;
      run.error = error.what();
      return;
    }
    BET_CHECK(
        !run.report->interrupted, run.folder.string(),
        ": was ended early with the best so far, which cannot be compared; remove it, and the "
        "same command makes it again");
  }

  // What a run is expected to take: as long as those that are most like it.
  double expected_seconds(const ComparedRun& run) const {
    const auto mean = [&](const auto& is_alike) {
      double sum = 0;
      double count = 0;
      for (const ComparedRun& other : runs_) {
        if (!other.report || !is_alike(other.options)) continue;
        sum += other.report->seconds.total;
        ++count;
      }
      return count > 0 ? sum / count : -1;
    };
    const FitOptions& own = run.options;
    const auto same_method = [&](const FitOptions& other) { return other.method == own.method; };
    const double nearest = mean([&](const FitOptions& other) {
      return same_method(other) && other.backbone == own.backbone &&
             other.data.path == own.data.path;
    });
    if (nearest >= 0) return nearest;
    const double of_method = mean(same_method);
    return of_method >= 0 ? of_method : mean([](const FitOptions&) { return true; });
  }

  double seconds_left() const {
    double seconds = 0;
    for (const ComparedRun& run : runs_) {
      if (run.report || !run.error.empty() || is_complete(run)) continue;
      const double expected = expected_seconds(run);
      if (expected < 0) return -1;
      seconds += expected;
    }
    return seconds;
  }

  void report(const std::function<void(const CompareProgress&)>& callback,
              const ComparedRun& run) const {
    if (callback) callback({done_, runs_.size(), seconds_left(), &run});
  }

  std::span<ComparedRun> runs_;
  const CompareCallbacks& callbacks_;
  std::shared_ptr<const RunData> data_;
  std::string data_path_;
  std::size_t done_ = 0;
};

}  // namespace

void make_runs(std::span<ComparedRun> runs, const CompareCallbacks& callbacks,
               const std::function<void()>& made) {
  ManyRuns(runs, callbacks).make_all(made);
}

}  // namespace bet
