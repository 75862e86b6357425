#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/many_runs.h"
#include "run/result_table.h"
#include "run/run_groups.h"

namespace bet {

// The evaluation of the BET paper (Qu et al., WSDM 2024, Section 4): its two tables and three
// figures, with the paper's numbers beside ours where it prints any.
enum class ExperimentKind {
  kTable1,     // all methods, three backbones, budgets of 20, 10 and 5 %
  kTable2,     // bet-paper with its predictor, a simple one, and by chance
  kFigureM,    // bet-paper by the number of candidates, 20 to 100
  kFigureT,    // bet-paper by the number of iterations: all plans are retrained, and what the
               // first t of them would have come to is derived for every t
  kFigureLoss  // the loss of the predictor by iteration
};

struct ExperimentName {
  ExperimentKind kind;
  std::string_view name;
  std::string_view about;
};
std::span<const ExperimentName> experiment_names();

struct ExperimentJob {
  ExperimentKind kind = ExperimentKind::kTable1;
  std::vector<std::string> data;  // paths as in DataOptions; names must differ
  FitOptions options;             // what all runs have in common
  std::uint32_t seeds = 1;        // as many, from that of the options on
  // Which of the runs are made; empty: all. A filter is words between slashes: name of the data,
  // backbone, method, variant, budget; a run that has all words of one of the filters is made.
  std::vector<std::string> only;
  std::filesystem::path folder;  // of runs and results; empty: runs/experiments
};

struct ChartData {
  std::string title;
  std::string x;  // labels of the axes
  std::string y;
  bool log_y = false;
  struct Point {
    double x = 0;
    Spread y;  // over seeds
  };
  struct Series {
    std::string name;
    std::vector<Point> points;
  };
  std::vector<Series> series = {};
};

struct ExperimentResult {
  std::filesystem::path folder;   // of the results: results.csv, pairs.csv, report.html
  std::vector<ComparedRun> runs;  // those asked for, and all others that are complete
  std::vector<ResultTable> tables;
  std::vector<ChartData> charts;
};

// Makes what is missing of the experiment, continuing where it was left, and the tables and charts
// of all that is there: seeds and parts that other calls made as well. Experiments that share a
// folder share runs. Callbacks and errors as in compare().
ExperimentResult experiment(const ExperimentJob& job, const CompareCallbacks& callbacks = {});

}  // namespace bet
