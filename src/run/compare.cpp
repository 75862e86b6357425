#include "run/compare.h"

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "data/load.h"
#include "report/compare_page.h"
#include "run/compare_results.h"
#include "run/error_kinds.h"
#include "run/report_json.h"
#include "search/method.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "results.csv";
constexpr const char* kPage = "report.html";

std::vector<ComparedRun> runs_of(const CompareJob& job, const fs::path& folder) {
  std::vector<ComparedRun> runs;
  const auto add = [&](FitOptions options, const std::string& budget) {
    const fs::path name =
        options.backbone + "-" + options.method + "-" + budget + "-" + std::to_string(options.seed);
    with_defaults(options);  // throws now on what a run would refuse after hours
    runs.push_back({std::move(options), folder / name, std::nullopt, ""});
  };
  // Runs that share a pretrained model follow each other.
  for (const std::string& backbone : job.backbones) {
    for (std::uint32_t i = 0; i < job.seeds; ++i) {
      for (const std::string& method : job.methods) {
        FitOptions options = job.options;
        options.backbone = backbone;
        options.method = method;
        options.seed = job.options.seed + i;
        options.budget.reset();
        // A budget could only refuse the full table.
        const bool has_none = method == "full" || find_method(method).budget == BudgetUse::kNone;
        if (has_none || job.budgets.empty()) {
          add(options, "any");
          continue;
        }
        for (const Budget& budget : job.budgets) {
          options.budget = budget;
          add(options, budget.text);
        }
      }
    }
  }
  return runs;
}

// Complete runs are read, others begun or resumed.
FitMode mode_of(const fs::path& folder) {
  const RunFiles files{folder};
  if (fs::exists(files.config())) return FitMode::kResume;
  return fs::exists(folder) ? FitMode::kOverwrite : FitMode::kNew;
}

void write_results(const fs::path& folder, std::span<const ComparedRun> runs) {
  write_file(folder / kResults, results_csv(runs));
  const std::string text = json_text(compare_json(runs));
  write_file(folder / kPage, compare_page(nlohmann::ordered_json::parse(text)));
}

class Comparison {
 public:
  Comparison(const CompareJob& job, const CompareCallbacks& callbacks)
      : job_(job),
        callbacks_(callbacks),
        folder_(job.folder.empty() ? default_compare_folder(job.options) : job.folder),
        runs_(runs_of(job, folder_)) {}

  CompareResult run() {
    for (ComparedRun& run : runs_) {
      const bool was_complete = fs::exists(RunFiles{run.folder}.report());
      const Stopwatch watch;
      report(callbacks_.run_begins, run);
      if (!was_complete && !data_) {
        data_ = std::make_shared<const RunData>(load_run_data(job_.options.data));
      }
      make(run);
      if (!was_complete && run.report) {
        seconds_ += watch.seconds();
        ++made_;
      }
      ++done_;
      if (run.report) write_results(folder_, runs_);
      report(callbacks_.run_ended, run);
    }
    return {folder_, std::move(runs_)};
  }

 private:
  void make(ComparedRun& run) {
    try {
      run.report =
          fit({run.options, run.folder, mode_of(run.folder), data_}, callbacks_.fit).report;
    } catch (const Interrupted&) {
      throw Interrupted(str_cat("stopped at run ", done_ + 1, " of ", runs_.size(),
                                "; the same command continues"));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBudget) throw;
      run.error = error.what();
    }
  }

  void report(const std::function<void(const CompareProgress&)>& callback,
              const ComparedRun& run) const {
    if (!callback) return;
    const double left = made_ == 0 ? -1
                                   : seconds_ / static_cast<double>(made_) *
                                         static_cast<double>(runs_.size() - done_);
    callback({done_, runs_.size(), left, &run});
  }

  const CompareJob& job_;
  const CompareCallbacks& callbacks_;
  fs::path folder_;
  std::vector<ComparedRun> runs_;
  std::shared_ptr<const RunData> data_;
  std::size_t done_ = 0;
  std::size_t made_ = 0;  // by this process
  double seconds_ = 0;    // that these took
};

}  // namespace

CompareResult compare(const CompareJob& job, const CompareCallbacks& callbacks) {
  return with_error_kinds([&] {
    BET_CHECK(!job.methods.empty() && !job.backbones.empty() && job.seeds > 0,
              "a comparison needs at least one method, backbone and seed");
    BET_CHECK(job.options.data.path != "-",
              "a comparison reads its data more than once; standard input can be read only once");
    return Comparison(job, callbacks).run();
  });
}

fs::path default_compare_folder(const FitOptions& options) {
  return fs::path("runs") / (dataset_name(options.data.path) + "-compare");
}

}  // namespace bet
