#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "run/compare.h"

namespace bet {

// results.csv: a line of names and a line for each run that has a report.
std::string results_csv(std::span<const ComparedRun> runs);

// Mean and standard deviation (of a sample; 0 for one run) over seeds.
struct Spread {
  double mean = 0;
  double deviation = 0;
};
Spread spread_of(std::span<const double> values);

// The runs of one backbone, method and budget.
struct ComparedCell {
  std::string backbone;
  std::string method;
  std::string budget;  // as asked for; empty: none
  std::uint64_t runs = 0;
  double bytes = 0;  // means: of the table, of the file
  double file_bytes = 0;
  Spread validation_recall;  // at 20
  Spread test_recall;
  Spread test_ndcg;
};

// In the order in which they come first in `runs`.
std::vector<ComparedCell> compared_cells(std::span<const ComparedRun> runs);

// For the page of a comparison (report/compare_page.h): the data, and the cells.
nlohmann::ordered_json compare_json(std::span<const ComparedRun> runs);

}  // namespace bet
