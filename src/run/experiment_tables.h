#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/experiment.h"
#include "run/run_groups.h"
#include "run/run_pairs.h"

namespace bet {

using ComparedGroups = std::vector<std::pair<const RunGroup*, const RunGroup*>>;

// What the experiment tests: bet against every other method of Table 1, the paper's predictor
// against its replacements, 100 candidates against fewer.
ComparedGroups experiment_pairs(ExperimentKind kind, std::span<const RunGroup> groups);
// By these metrics.
std::vector<MetricKind> experiment_metrics(ExperimentKind kind);

// In the paper's layout, with its figures. `pairs` are those of the experiment.
std::vector<ResultTable> experiment_tables(ExperimentKind kind, std::span<const RunGroup> groups,
                                           std::span<const RunPair> pairs);
std::vector<ChartData> experiment_charts(ExperimentKind kind, std::span<const RunGroup> groups);

// By iteration, the first at index 0.
// What selective retraining comes to after as many iterations, from a run that retrained every plan
// that it probed: the plan of best validation score among the five of highest fitness so far.
std::vector<Metrics> best_of_first(const FitReport& report);

}  // namespace bet
