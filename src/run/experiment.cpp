#include "run/experiment.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/with_commas.h"
#include "report/experiment_page.h"
#include "run/compare_results.h"
#include "run/error_kinds.h"
#include "run/experiment_runs.h"
#include "run/experiment_tables.h"
#include "run/report_json.h"

namespace bet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array kExperiments = {
    ExperimentName{ExperimentKind::kTable1, "table1",
                   "all methods with three backbones at 20, 10 and 5 % of the parameters"},
    ExperimentName{ExperimentKind::kTable2, "table2", "ways to select plans"},
    ExperimentName{ExperimentKind::kFigureM, "figure-m", "numbers of candidates"},
    ExperimentName{ExperimentKind::kFigureT, "figure-t", "numbers of iterations"},
    ExperimentName{ExperimentKind::kFigureLoss, "figure-loss", "the predictor's loss"}};

std::string_view name_of_kind(ExperimentKind kind) {
  return std::ranges::find(kExperiments, kind, &ExperimentName::kind)->name;
}

Json chart_json(const ChartData& chart) {
  Json json = {{"title", chart.title},
               {"x", chart.x},
               {"y", chart.y},
               {"log_y", chart.log_y},
               {"series", Json::array()}};
  for (const ChartData::Series& series : chart.series) {
    Json points = Json::array();
    for (const ChartData::Point& point : series.points) {
      points.push_back({{"x", point.x}, {"mean", point.y.mean}, {"deviation", point.y.deviation}});
    }
    json["series"].push_back({{"name", series.name}, {"points", std::move(points)}});
  }
  return json;
}

// The devices and commits of the runs, for whoever reads the figures.
ResultTable origin_table(std::span<const ComparedRun> runs) {
  ResultTable table = {.title = "Where the runs come from",
                       .columns = {"data", "device", "commit", "runs", "seconds"},
                       .rows = {}};
  struct Origin {
    std::vector<std::string> names;
    std::uint64_t runs = 0;
    double seconds = 0;
  };
  std::vector<Origin> origins;
  for (const ComparedRun& run : runs) {
    if (!run.report) continue;
    const FitReport& report = *run.report;
    const std::string commit = report.versions.commit;
    const std::vector<std::string> names = {report.data.name + " (" + report.data.hash + ")",
                                            report.device, commit.empty() ? "-" : commit};
    auto found = std::ranges::find(origins, names, &Origin::names);
    if (found == origins.end()) found = origins.insert(origins.end(), {names, 0, 0});
    ++found->runs;
    found->seconds += report.seconds.total;
  }
  for (const Origin& origin : origins) {
    std::vector<std::string> row = origin.names;
    row.push_back(with_commas(origin.runs));
    row.push_back(with_commas(static_cast<std::uint64_t>(origin.seconds)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void write_experiment(const ExperimentJob& job, std::span<const RunPair> pairs,
                      std::span<const RunGroup> groups, const ExperimentResult& result) {
  write_file(result.folder / kResultsFile, results_csv(result.runs));
  write_file(result.folder / kPairsFile, pairs_csv(pairs));
  std::uint64_t runs = 0;
  for (const RunGroup& group : groups) runs += group.runs.size();
  Json page = {{"title", name_of_kind(job.kind)},
               {"sentence", with_commas(runs) + " runs of the experiment " +
                                std::string(name_of_kind(job.kind)) +
                                " of the BET paper (Qu et al., WSDM 2024)."},
               {"charts", Json::array()},
               {"tables", Json::array()}};
  for (const ChartData& chart : result.charts) page["charts"].push_back(chart_json(chart));
  for (const ResultTable& table : result.tables) page["tables"].push_back(table_json(table));
  ResultTable tests = pairs_table(pairs);
  tests.title = "Tests";
  ResultTable cells = cells_table(groups);
  cells.title = "All results";
  for (const ResultTable& table : {tests, cells, origin_table(result.runs)}) {
    if (!table.rows.empty()) page["tables"].push_back(table_json(table));
  }
  write_file(result.folder / kComparePage, experiment_page(Json::parse(json_text(page))));
}

ExperimentResult run_experiment(const ExperimentJob& job, const CompareCallbacks& callbacks) {
  const fs::path folder = job.folder.empty() ? fs::path("runs") / "experiments" : job.folder;
  ExperimentResult result;
  result.folder = folder / name_of_kind(job.kind);
  result.runs = experiment_runs(job, folder);
  const auto write_results = [&] {
    fs::create_directories(result.folder);
    write_file(result.folder / kResultsFile, results_csv(result.runs));
  };
  make_runs(result.runs, callbacks, write_results);
  write_results();
  const std::vector<RunGroup> groups = run_groups(result.runs);
  const std::vector<RunPair> pairs =
      run_pairs(experiment_pairs(job.kind, groups), experiment_metrics(job.kind));
  result.tables = experiment_tables(job.kind, groups, pairs);
  result.charts = experiment_charts(job.kind, groups);
  write_experiment(job, pairs, groups, result);
  return result;
}

}  // namespace

std::span<const ExperimentName> experiment_names() { return kExperiments; }

ExperimentResult experiment(const ExperimentJob& job, const CompareCallbacks& callbacks) {
  return with_error_kinds([&] {
    BET_CHECK(!job.data.empty() && job.seeds > 0, "an experiment needs data and a seed");
    BET_CHECK(std::ranges::find(job.data, "-") == job.data.end(),
              "an experiment reads its data more than once; standard input can be read only once");
    return run_experiment(job, callbacks);
  });
}

}  // namespace bet
