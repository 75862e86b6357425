#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/many_runs.h"
#include "run/result_table.h"

namespace bet {

// Many runs on one data set: every budget with every method, backbone and seed. They share data and
// split, and by the cache the pretrained models.
struct CompareJob {
  FitOptions options;                // what all runs have in common
  std::vector<Budget> budgets;       // full, and methods that cannot have one, run without
  std::vector<std::string> methods;  // at least one of each; the first is tested against the others
  std::vector<std::string> backbones;
  std::uint32_t seeds = 1;  // as many, from that of the options on
  // Find the smallest file whose quality is at most this share below that of full size, which is
  // then among the methods.
  std::optional<double> within = {};
  std::filesystem::path folder;  // of the comparison, with a folder for each run; empty: by default
};

struct CompareResult {
  std::filesystem::path folder;
  std::vector<ComparedRun> runs;
  ResultTable cells;                // means and deviations over seeds
  ResultTable pairs;                // tests of the first method against the others
  std::vector<std::string> within;  // with CompareJob::within: a sentence for each backbone
};

// Makes the runs that are not there yet (make_runs): the same job can be given again after whatever
// ended it. After every run the folder has results.csv and report.html of all that are done, and at
// the end pairs.csv.
CompareResult compare(const CompareJob& job, const CompareCallbacks& callbacks = {});

// "1%" as a share, for CompareJob::within. Throws on anything else.
double parse_percent(const std::string& text);

// runs/<data>-compare.
std::filesystem::path default_compare_folder(const FitOptions& options);

}  // namespace bet
