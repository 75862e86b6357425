#include "run/compare.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/option.h"
#include "data/load.h"
#include "report/compare_page.h"
#include "run/compare_results.h"
#include "run/error_kinds.h"
#include "run/report_json.h"
#include "search/method.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFull = "full";

std::vector<std::string> methods_of(const CompareJob& job) {
  std::vector<std::string> names = job.methods;
  if (job.within && std::ranges::find(names, kFull) == names.end()) names.emplace_back(kFull);
  return names;
}

std::vector<ComparedRun> runs_of(const CompareJob& job, const fs::path& folder) {
  std::vector<ComparedRun> runs;
  const auto add = [&](FitOptions options, const std::string& budget) {
    const fs::path name =
        options.backbone + "-" + options.method + "-" + budget + "-" + std::to_string(options.seed);
    with_defaults(options);  // throws now on what a run would refuse after hours
    runs.push_back({std::move(options), folder / name});
  };
  // Runs that share a pretrained model follow each other.
  for (const std::string& backbone : job.backbones) {
    for (std::uint32_t i = 0; i < job.seeds; ++i) {
      for (const std::string& method : methods_of(job)) {
        FitOptions options = job.options;
        options.backbone = backbone;
        options.method = method;
        options.seed = job.options.seed + i;
        options.budget.reset();
        // A budget could only refuse the full table.
        const bool has_none = method == kFull || find_method(method).budget == BudgetUse::kNone;
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

void write_page(const fs::path& folder, const nlohmann::ordered_json& comparison) {
  // Through text, where names that are not UTF-8 are replaced.
  write_file(folder / kComparePage,
             compare_page(nlohmann::ordered_json::parse(json_text(comparison))));
}

CompareResult run_comparison(const CompareJob& job, const CompareCallbacks& callbacks) {
  CompareResult result;
  result.folder = job.folder.empty() ? default_compare_folder(job.options) : job.folder;
  result.runs = runs_of(job, result.folder);
  make_runs(result.runs, callbacks, [&] {
    write_file(result.folder / kResultsFile, results_csv(result.runs));
    write_page(result.folder, compare_json(run_groups(result.runs)));
  });
  const std::vector<RunGroup> groups = run_groups(result.runs);
  result.cells = cells_table(groups);
  if (groups.empty()) return result;
  const std::vector<RunPair> pairs =
      run_pairs(method_against_others(job.methods[0], groups), kMetricsAt20);
  result.pairs = pairs_table(pairs);
  if (job.within) {
    for (const SmallestFile& smallest : smallest_within(groups, *job.within)) {
      result.within.push_back(smallest_text(smallest, *job.within));
    }
  }
  nlohmann::ordered_json comparison = compare_json(groups);
  comparison["within"] = result.within;
  comparison["pairs"] = table_json(result.pairs);
  write_file(result.folder / kResultsFile, results_csv(result.runs));
  write_file(result.folder / kPairsFile, pairs_csv(pairs));
  write_page(result.folder, comparison);
  return result;
}

}  // namespace

CompareResult compare(const CompareJob& job, const CompareCallbacks& callbacks) {
  return with_error_kinds([&] {
    BET_CHECK(!job.methods.empty() && !job.backbones.empty() && job.seeds > 0,
              "a comparison needs at least one method, backbone and seed");
    BET_CHECK(job.options.data.path != "-",
              "a comparison reads its data more than once; standard input can be read only once");
    return run_comparison(job, callbacks);
  });
}

double parse_percent(const std::string& text) {
  BET_CHECK(text.ends_with('%'), in_quotes(text), " is not a percentage such as 1%");
  const double percent = parse_real(text.substr(0, text.size() - 1));
  BET_CHECK(percent >= 0 && percent < 100, in_quotes(text), " is not between 0% and 100%");
  return percent / 100;
}

fs::path default_compare_folder(const FitOptions& options) {
  return fs::path("runs") / (dataset_name(options.data.path) + "-compare");
}

}  // namespace bet
