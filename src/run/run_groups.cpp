#include "run/run_groups.h"

#include <algorithm>
#include <cmath>

namespace bet {
namespace {

template <typename Value>
Spread spread_over(const RunGroup& group, const Value& value_of) {
  std::vector<double> values;
  values.reserve(group.runs.size());
  for (const ComparedRun* run : group.runs) values.push_back(value_of(*run->report));
  return spread_of(values);
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / count;
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

Spread RunGroup::validation(const MetricKind& metric) const {
  return spread_over(*this, [&](const FitReport& report) { return metric.of(report.validation); });
}

Spread RunGroup::test(const MetricKind& metric) const {
  return spread_over(*this, [&](const FitReport& report) { return metric.of(report.test); });
}

double RunGroup::mean_bytes() const {
  return spread_over(*this,
                     [](const FitReport& report) { return static_cast<double>(report.used.bytes); })
      .mean;
}

double RunGroup::mean_file_bytes() const {
  return spread_over(
             *this,
             [](const FitReport& report) { return static_cast<double>(report.used.file_bytes); })
      .mean;
}

double RunGroup::mean_share() const {
  return spread_over(*this, [](const FitReport& report) { return report.used.share; }).mean;
}

std::vector<RunGroup> run_groups(std::span<const ComparedRun> runs) {
  std::vector<RunGroup> groups;
  for (const ComparedRun& run : runs) {
    if (!run.report) continue;
    const FitReport& report = *run.report;
    const std::string budget = report.budget ? report.budget->requested.text : "";
    const auto same = std::ranges::find_if(groups, [&](const RunGroup& group) {
      return group.data == report.data.name && group.backbone == report.backbone &&
             group.method == report.method && group.variant == run.variant &&
             group.budget == budget;
    });
    if (same != groups.end()) {
      same->runs.push_back(&run);
      continue;
    }
    groups.push_back(
        {report.data.name, report.backbone, report.method, run.variant, budget, {&run}});
  }
  return groups;
}

}  // namespace bet
