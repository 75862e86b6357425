#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/many_runs.h"

namespace bet {

// One of the six metrics.
struct MetricKind {
  std::string_view name;  // as in reports
  std::string_view short_name;
  bool is_recall = true;
  std::size_t cutoff = 0;  // of kCutoffs

  double of(const Metrics& metrics) const {
    return is_recall ? metrics.recall[cutoff] : metrics.ndcg[cutoff];
  }
};

inline constexpr MetricKind kRecall5 = {"recall@5", "R@5", true, 0};
inline constexpr MetricKind kNdcg5 = {"ndcg@5", "N@5", false, 0};
inline constexpr MetricKind kRecall20 = {"recall@20", "R@20", true, 2};
inline constexpr MetricKind kNdcg20 = {"ndcg@20", "N@20", false, 2};
inline constexpr std::array kMetricsAt20 = {kRecall20, kNdcg20};

// Mean and standard deviation (of a sample; 0 for one run) over seeds.
struct Spread {
  double mean = 0;
  double deviation = 0;
};
Spread spread_of(std::span<const double> values);

// The runs that differ in their seed alone, of those that have a report.
struct RunGroup {
  std::string data;
  std::string backbone;
  std::string method;
  std::string variant;
  std::string budget;  // as asked for; empty: none
  std::vector<const ComparedRun*> runs;

  Spread validation(const MetricKind& metric) const;
  Spread test(const MetricKind& metric) const;
  double mean_bytes() const;       // of the table
  double mean_file_bytes() const;  // of the file
  double mean_share() const;       // of the full table's parameters
};

// In the order in which they come first in `runs`, which must outlive them.
std::vector<RunGroup> run_groups(std::span<const ComparedRun> runs);

}  // namespace bet
