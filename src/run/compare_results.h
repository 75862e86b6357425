#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/result_table.h"
#include "run/run_groups.h"
#include "run/run_pairs.h"

namespace bet {

// The files of a comparison or an experiment.
inline constexpr const char* kResultsFile = "results.csv";
inline constexpr const char* kPairsFile = "pairs.csv";
inline constexpr const char* kComparePage = "report.html";

// results.csv: a line of names and a line for each run that has a report.
std::string results_csv(std::span<const ComparedRun> runs);

// Means and deviations over seeds. Data and variants have columns where they differ.
ResultTable cells_table(std::span<const RunGroup> groups);

// A method against each other one with the same backbone and budget, or without a budget.
std::vector<std::pair<const RunGroup*, const RunGroup*>> method_against_others(
    const std::string& method, std::span<const RunGroup> groups);

// The tests, and below them what each figure is.
ResultTable pairs_table(std::span<const RunPair> pairs);

// The smallest file of a backbone whose recall@20 on validation (mean over seeds) is at most a
// share below that of full size.
struct SmallestFile {
  const RunGroup* full = nullptr;
  const RunGroup* smallest = nullptr;  // full itself, where no other is as good
};
// For every backbone with runs of full size; groups must outlive the result.
std::vector<SmallestFile> smallest_within(std::span<const RunGroup> groups, double share);
std::string smallest_text(const SmallestFile& found, double share);

// For the page of a comparison (report/compare_page.h): the data, and the cells.
nlohmann::ordered_json compare_json(std::span<const RunGroup> groups);

}  // namespace bet
