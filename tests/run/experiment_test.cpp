#include "run/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/run_files.h"
#include "data/synthetic.h"
#include "run/experiment_tables.h"
#include "run/option_table.h"
#include "run/report_json.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

namespace fs = std::filesystem;
using test::read_file;
using test::TempFolder;

// A data set of the name that the paper has figures for, of which a run takes some milliseconds.
std::string tiny_data(const TempFolder& folder, const std::string& name) {
  const fs::path path = folder / (name + ".csv");
  SyntheticOptions options;
  options.num_users = 60;
  options.num_items = 40;
  options.num_interactions = 600;
  options.num_clusters = 4;
  options.seed = name.size();
  write_interactions(synthetic_dataset(options), path);
  return path.string();
}

ExperimentJob tiny_experiment(const TempFolder& folder, ExperimentKind kind) {
  ExperimentJob job;
  job.kind = kind;
  job.data = {tiny_data(folder, "gowalla")};
  job.options = options_from({{"dim", "20"},
                              {"max-steps", "8"},
                              {"batch-size", "64"},
                              {"loss", "bpr"},
                              {"iterations", "6"},
                              {"finetune-epochs", "1"},
                              {"threads", "1"},
                              {"cache", (folder / "cache").string()}});
  job.folder = folder / "all";
  return job;
}

const std::vector<std::string>& row_of(const ResultTable& table, const std::string& first,
                                       std::size_t which = 0) {
  for (const std::vector<std::string>& row : table.rows) {
    if (row[0] == first && which-- == 0) return row;
  }
  throw std::runtime_error("no row " + first);
}

std::size_t num_lines(const fs::path& file) {
  const std::string text = read_file(file);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(Experiment, MakesTable1InPiecesWithThePapersFiguresBesideOurs) {
  const TempFolder folder;
  ExperimentJob job = tiny_experiment(folder, ExperimentKind::kTable1);
  // All methods with one backbone; the others by one method each.
  job.only = {"lightgcn", "ngcf/es", "ncf/bet/5%"};
  const ExperimentResult result = experiment(job);
  ASSERT_EQ(result.runs.size(), 2U + 3 * 6 + 3 + 1);
  ASSERT_EQ(result.tables.size(), 1U);
  const ResultTable& table = result.tables[0];
  ASSERT_EQ(table.columns.size(), 1U + 3 * 5);
  // Two methods that choose their size, five with a budget, the paper's row below each, bet-paper,
  // and two rows of p-values.
  ASSERT_EQ(table.rows.size(), 2U * 2 + 3 * (2 * 5 + 1 + 2));
  const auto found = std::ranges::find_if(result.runs, [](const ComparedRun& run) {
    return run.options.method == "mr" && run.options.budget->text == "10%";
  });
  ASSERT_NE(found, result.runs.end());
  const std::vector<std::string>& mr = row_of(table, "mr", 1);
  EXPECT_EQ(mr[1], "90 %");
  EXPECT_EQ(mr[4], quality_text(found->report->test.recall[2]));
  EXPECT_EQ(mr[6], "90 %");
  EXPECT_EQ(mr[9], "-") << "not run";
  // Below bet at 95 %: method, then sparsity and four figures for each backbone.
  const auto last_bet = std::ranges::find(table.rows, row_of(table, "bet", 2));
  EXPECT_EQ((*(last_bet + 1))[0], "  paper");
  EXPECT_EQ((*(last_bet + 1))[4], "0.1374");
  EXPECT_EQ((*(last_bet + 1))[10], "(0.0998)");
  EXPECT_NE((*last_bet)[14], "-");
  EXPECT_NE(row_of(table, "p (Holm)", 0)[4], "-");
  EXPECT_EQ(row_of(table, "  paper: p", 0)[4], "0.0391");
  EXPECT_NE(table.notes[0].find("of 4 cells by R@20"), std::string::npos) << table.notes[0];

  EXPECT_EQ(num_lines(folder / "all/table1/results.csv"), 1 + result.runs.size());
  // bet against six others in each block, two of them without a budget, and bet-paper.
  EXPECT_EQ(num_lines(folder / "all/table1/pairs.csv"), 1U + 3 * 7 * 4);
  EXPECT_NE(read_file(folder / "all/table1/report.html").find("0.1374"), std::string::npos);

  // Another piece: what is there stays in the tables; reports and hits alone are enough for it.
  for (const ComparedRun& run : result.runs) fs::remove(RunFiles{run.folder}.model());
  job.only = {"lightgcn/es/5%"};
  job.seeds = 2;
  const ExperimentResult more = experiment(job);
  EXPECT_EQ(more.runs.size(), result.runs.size() + 1);
  EXPECT_EQ(num_lines(folder / "all/table1/pairs.csv"), 1U + 3 * 7 * 4);

  job.only = {"lightgcm"};
  EXPECT_NE(
      test::error_of([&] { experiment(job); }).find("no run of this experiment has 'lightgcm'"),
      std::string::npos);
}

TEST(Experiment, MakesTable2AndFigureMWhichShareRuns) {
  const TempFolder folder;
  ExperimentJob job = tiny_experiment(folder, ExperimentKind::kTable2);
  job.data.push_back(tiny_data(folder, "yelp2018"));
  const ExperimentResult result = experiment(job);
  ASSERT_EQ(result.runs.size(), 2U * 3 * 3);
  const ResultTable& table = result.tables.at(0);
  ASSERT_EQ(table.rows.size(), 9U);
  EXPECT_EQ(table.rows[5][0], "deepsets");
  EXPECT_EQ(table.rows[5][1], "90 %");
  EXPECT_EQ(table.rows[5][4], "0.1620") << "Gowalla, the paper's R@20";
  EXPECT_EQ(table.rows[5][9], "0.0762") << "Yelp2018, the paper's N@20";
  EXPECT_NE(table.rows[5][6], "-");
  EXPECT_EQ(num_lines(folder / "all/table2/pairs.csv"), 1U + 2 * 3 * 2 * 2);

  job.kind = ExperimentKind::kFigureM;
  job.data.pop_back();
  std::vector<std::string> begun;
  CompareCallbacks callbacks;
  callbacks.run_begins = [&](const CompareProgress& progress) {
    if (!fs::exists(RunFiles{progress.run->folder}.report())) begun.push_back("");
  };
  const ExperimentResult by_m = experiment(job, callbacks);
  EXPECT_EQ(by_m.runs.size(), 15U);
  EXPECT_EQ(begun.size(), 12U) << "m = 100 is there already";
  EXPECT_EQ(by_m.tables.at(0).rows.at(2).back(), "0.1374 / 0.1171");
  ASSERT_EQ(by_m.charts.size(), 2U);
  ASSERT_EQ(by_m.charts[0].series.size(), 3U);
  const ChartData::Point& last = by_m.charts[0].series[2].points.at(4);
  EXPECT_EQ(last.x, 100);
  const auto found = std::ranges::find_if(by_m.runs, [](const ComparedRun& run) {
    return run.variant == "100" && run.options.budget->text == "5%";
  });
  EXPECT_EQ(last.y.mean, found->report->test.recall[2]);
}

TEST(Experiment, MakesFigureTAndFigureLossFromEveryIteration) {
  const TempFolder folder;
  ExperimentJob job = tiny_experiment(folder, ExperimentKind::kFigureT);
  const ExperimentResult by_t = experiment(job);
  ASSERT_EQ(by_t.runs.size(), 3U);
  ASSERT_EQ(by_t.charts.size(), 2U);
  for (const ChartData::Series& series : by_t.charts[0].series) {
    EXPECT_EQ(series.points.size(), 6U);
  }
  const FitReport& report = by_t.runs[0].report.value();
  EXPECT_LE(report.retrained.size(), 6U);
  EXPECT_GT(report.retrained.size(), 1U);

  job.kind = ExperimentKind::kFigureLoss;
  const ExperimentResult losses = experiment(job);
  ASSERT_EQ(losses.charts.size(), 1U);
  ASSERT_EQ(losses.charts[0].series.size(), 3U);
  const auto& points = losses.charts[0].series[0].points;
  ASSERT_EQ(points.size(), 4U) << "not the first, which has nothing to learn from, nor the last";
  EXPECT_EQ(points[0].x, 2);
  for (const ChartData::Point& point : points) EXPECT_GT(point.y.mean, 0);
  const auto& trial = losses.runs[0].report->trials.at(1);
  EXPECT_EQ(points[0].y.mean, trial.predictor_loss.value());
}

// Five of highest fitness, and of these the best on validation.
TEST(Experiment, DerivesWhatTheFirstIterationsWouldHaveComeTo) {
  FitReport report;
  const double fitness[] = {0.5, 0.9, 0.4, 0.8, 0.7, 0.6, 0.95};
  const double quality[] = {0.7, 0.1, 0.8, 0.2, 0.3, 0.4, 0.05};
  for (std::uint32_t i = 0; i < 7; ++i) {
    FitReport::MeasuredPlan trial;
    trial.iteration = i + 1;
    trial.fitness = fitness[i];
    report.trials.push_back(trial);
    Metrics validation;
    validation.recall.fill(quality[i]);
    validation.ndcg.fill(quality[i]);
    report.retrained.push_back({.iteration = i + 1, .label = "", .validation = validation});
  }
  std::vector<double> best;
  for (const Metrics& one : best_of_first(report)) best.push_back(one.recall[0]);
  // After six 0.4 is no longer among the five, after seven neither is 0.5.
  EXPECT_EQ(best, (std::vector<double>{0.7, 0.7, 0.8, 0.8, 0.8, 0.7, 0.4}));
}

}  // namespace
}  // namespace bet
