#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/fit.h"

namespace bet {

// One of many runs that are compared.
struct ComparedRun {
  FitOptions options;
  std::filesystem::path folder;
  std::string variant = {};  // what sets it apart from other runs of its method, if anything
  std::optional<FitReport> report = {};
  std::string error = {};  // why there is no report: the budget cannot be met
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

// Makes the runs that are not there yet one after the other, resumes those that were interrupted,
// and reads those that are complete. Runs on the same data that follow each other share them.
// `made` is called after every run that was not there. A budget that a method cannot meet is noted
// in the run, and the others are made; other errors end it, and so does a run that was ended early
// with the best so far, which cannot be compared. Throws Interrupted as fit() does.
void make_runs(std::span<ComparedRun> runs, const CompareCallbacks& callbacks,
               const std::function<void()>& made);

}  // namespace bet
