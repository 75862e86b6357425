#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/fit.h"

namespace bet {

// Many runs on one data set: every budget with every method, backbone and seed. They share data and
// split, and by the cache the pretrained models.
struct CompareJob {
  FitOptions options;                // what all runs have in common
  std::vector<Budget> budgets;       // full, and methods that cannot have one, run without
  std::vector<std::string> methods;  // at least one of each
  std::vector<std::string> backbones;
  std::uint32_t seeds = 1;       // as many, from that of the options on
  std::filesystem::path folder;  // of the comparison, with a folder for each run; empty: by default
};

// One of the runs.
struct ComparedRun {
  FitOptions options;
  std::filesystem::path folder;  // in that of the comparison
  std::optional<FitReport> report;
  std::string error;  // why there is no report: the budget cannot be met
};

struct CompareProgress {
  std::size_t done = 0;  // runs, those of earlier processes included
  std::size_t total = 0;
  double seconds_left = 0;           // about, of all runs; below 0 if not known
  const ComparedRun* run = nullptr;  // that begins or has ended
};

struct CompareCallbacks {
  FitCallbacks fit;  // of each run
  std::function<void(const CompareProgress&)> run_begins;
  std::function<void(const CompareProgress&)> run_ended;
};

struct CompareResult {
  std::filesystem::path folder;
  std::vector<ComparedRun> runs;
};

// Makes the runs that are not there yet, and resumes the one that was interrupted: the same job can
// be given again after whatever ended it. After every run the folder has results.csv and
// report.html of all that are done. A budget that a method cannot meet is noted, and the others are
// made; other errors end it. Throws Interrupted as fit() does, also where a stop ended a run with
// the best so far: the runs after it would not be comparable.
CompareResult compare(const CompareJob& job, const CompareCallbacks& callbacks = {});

// runs/<data>-compare.
std::filesystem::path default_compare_folder(const FitOptions& options);

}  // namespace bet
