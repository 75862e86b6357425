#include "run/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/run_files.h"
#include "run/build_commit.h"
#include "run/compare_results.h"
#include "run/option_table.h"
#include "run/test_hits.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::read_file;
using test::TempFolder;

// Six runs of some tenths of a second.
CompareJob small_comparison(const TempFolder& folder) {
  CompareJob job;
  job.options = options_from({{"data", "demo"},
                              {"dim", "8"},
                              {"max-steps", "20"},
                              {"loss", "bpr"},
                              {"effort", "quick"},
                              {"cache", (folder / "cache").string()}});
  job.budgets = {parse_budget("20%"), parse_budget("50%")};
  job.methods = {"es", "full"};
  job.backbones = {"mf"};
  job.seeds = 2;
  job.folder = folder / "all";
  return job;
}

// By line.
std::vector<std::vector<std::string>> table_of_any(const std::filesystem::path& file) {
  std::istringstream lines(read_file(file));
  std::vector<std::vector<std::string>> table;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::vector<std::string>& row = table.emplace_back();
    for (std::string one; std::getline(fields, one, ',');) row.push_back(one);
    if (line.ends_with(',')) row.emplace_back();
  }
  return table;
}

// Without the column that differs from time to time.
std::vector<std::vector<std::string>> table_of(const std::filesystem::path& file) {
  auto table = table_of_any(file);
  if (table.empty()) return table;
  const auto found = std::ranges::find(table[0], "seconds");
  EXPECT_NE(found, table[0].end()) << file;
  const auto seconds = found - table[0].begin();
  for (std::vector<std::string>& row : table) {
    if (std::ssize(row) > seconds) row.erase(row.begin() + seconds);
  }
  return table;
}

TEST(Spread, IsMeanAndDeviationOfASample) {
  const std::vector<double> values = {1, 2, 6};
  EXPECT_DOUBLE_EQ(spread_of(values).mean, 3);
  EXPECT_DOUBLE_EQ(spread_of(values).deviation, std::sqrt(7.0));
  EXPECT_DOUBLE_EQ(spread_of(std::span(values).first(1)).deviation, 0);
}

TEST(Compare, MakesEveryRunOnceAndTellsThemInOneTable) {
  const TempFolder folder;
  const CompareJob job = small_comparison(folder);
  std::vector<CompareProgress> ends;
  CompareCallbacks callbacks;
  callbacks.run_ended = [&](const CompareProgress& progress) { ends.push_back(progress); };
  const CompareResult result = compare(job, callbacks);
  ASSERT_EQ(result.runs.size(), 6U) << "two seeds of es with two budgets, and of full";
  EXPECT_EQ(ends.size(), 6U);
  EXPECT_GT(ends[2].seconds_left, 0);
  EXPECT_EQ(ends[5].seconds_left, 0);
  EXPECT_EQ(ends[5].done, 6U);

  const auto table = table_of(folder / "all/results.csv");
  ASSERT_EQ(table.size(), 7U);
  const auto column = [&](const char* name) {
    const auto found = std::ranges::find(table[0], name);
    EXPECT_NE(found, table[0].end()) << name;
    return static_cast<std::size_t>(found - table[0].begin());
  };
  for (std::size_t i = 0; i < 6; ++i) {
    const FitReport& report = result.runs[i].report.value();
    const std::vector<std::string>& row = table[i + 1];
    EXPECT_EQ(row.size(), table[0].size());
    EXPECT_EQ(row[column("data_hash")], report.data.hash);
    EXPECT_EQ(row[column("method")], report.method);
    EXPECT_EQ(row[column("budget")], report.budget ? report.budget->requested.text : "");
    EXPECT_EQ(row[column("seed")], std::to_string(report.seed));
    EXPECT_EQ(row[column("bytes")], std::to_string(report.used.bytes));
    EXPECT_DOUBLE_EQ(std::stod(row[column("test_ndcg@5")]), report.test.ndcg[0]);
    EXPECT_EQ(row[column("commit")], build_commit());
    EXPECT_DOUBLE_EQ(std::stod(row[column("validation_recall@20")]), report.validation.recall[2]);
  }

  const std::vector<RunGroup> cells = run_groups(result.runs);
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].budget, "20%");
  EXPECT_EQ(cells[0].runs.size(), 2U);
  EXPECT_DOUBLE_EQ(
      cells[0].test(kRecall20).mean,
      (result.runs[0].report->test.recall[2] + result.runs[3].report->test.recall[2]) / 2);
  EXPECT_GT(cells[0].test(kRecall20).deviation, 0);
  ASSERT_EQ(result.cells.rows.size(), 3U);
  EXPECT_EQ(result.cells.rows[0][2], "20%");
  const std::string page = read_file(folder / "all/report.html");
  char text[64];
  const Spread ndcg = cells[1].test(kNdcg20);
  std::snprintf(text, sizeof(text), "%.4f ± %.4f</title>", ndcg.mean, ndcg.deviation);
  EXPECT_NE(page.find(text), std::string::npos) << text;

  // As a run alone makes it.
  FitOptions alone = result.runs[4].options;
  fit({alone, folder / "alone"});
  EXPECT_EQ(read_file(folder / "alone/model.bet"), read_file(result.runs[4].folder / "model.bet"));

  // Again: all is there.
  ends.clear();
  callbacks.fit.leave = [] { return true; };  // a step would end it
  compare(job, callbacks);
  ASSERT_EQ(ends.size(), 6U);
  EXPECT_EQ(ends[0].seconds_left, 0) << "nothing is to be made";
  EXPECT_EQ(table_of(folder / "all/results.csv"), table);
}

// The values of all users, mean over two seeds, from the files of the runs.
std::vector<double> values_by_user(const ComparedRun& first, const ComparedRun& second,
                                   const MetricKind& metric) {
  std::vector<double> values;
  for (const ComparedRun* run : {&first, &second}) {
    const std::vector<UserHits> hits = read_test_hits(RunFiles{run->folder}.test_hits());
    values.resize(hits.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
      values[i] += metric.of(user_metrics(hits[i].hits, hits[i].held_out)) / 2;
    }
  }
  return values;
}

TEST(Compare, TestsTheFirstMethodAgainstTheOthersUserByUser) {
  const TempFolder folder;
  CompareJob job = small_comparison(folder);
  job.budgets = {parse_budget("20%")};
  job.methods = {"es", "mr", "full"};
  const CompareResult result = compare(job);
  ASSERT_EQ(result.runs.size(), 6U);
  for (const ComparedRun& run : result.runs) {
    std::vector<Metrics> users;
    for (const UserHits& user : read_test_hits(RunFiles{run.folder}.test_hits())) {
      users.push_back(user_metrics(user.hits, user.held_out));
    }
    EXPECT_EQ(mean_of(users), run.report->test);
  }
  const std::vector<RunGroup> groups = run_groups(result.runs);
  const auto compared = method_against_others("es", groups);
  ASSERT_EQ(compared.size(), 2U) << "full has no budget and is compared with 20%";
  const std::vector<RunPair> pairs = run_pairs(compared, kMetricsAt20);
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_EQ(pairs[1].other->method, "mr");
  EXPECT_EQ(pairs[1].metric.name, "ndcg@20");
  const PairedTest expected = paired_test(values_by_user(result.runs[0], result.runs[3], kNdcg20),
                                          values_by_user(result.runs[1], result.runs[4], kNdcg20));
  EXPECT_DOUBLE_EQ(pairs[1].test.p, expected.p);
  EXPECT_DOUBLE_EQ(pairs[1].test.effect, expected.effect);
  EXPECT_NEAR(pairs[1].test.difference, groups[0].test(kNdcg20).mean - groups[1].test(kNdcg20).mean,
              1e-12);
  EXPECT_LT(pairs[1].interval.low, expected.difference);
  EXPECT_GT(pairs[1].interval.high, expected.difference);
  EXPECT_EQ(pairs[1].seeds, 2U);
  EXPECT_NEAR(pairs[1].over_seeds.mean, expected.difference, 1e-12);
  std::vector<double> p;
  for (const RunPair& pair : pairs) p.push_back(pair.test.p);
  EXPECT_EQ(pairs[1].holm_p, holm(p)[1]);

  const auto table = table_of_any(folder / "all/pairs.csv");
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[2][8], "ndcg@20");
  const std::string page = read_file(folder / "all/report.html");
  EXPECT_NE(page.find("mf: es against mr"), std::string::npos);
  EXPECT_NE(page.find("two-sided paired t-test over users"), std::string::npos);

  // A run of an earlier version has no such file: one seed is left.
  std::filesystem::remove(RunFiles{result.runs[1].folder}.test_hits());
  EXPECT_EQ(run_pairs(compared, kMetricsAt20).at(0).seeds, 1U);
}

TEST(Compare, AddsFullSizeAndNamesTheSmallestFileWithinAShareOfIt) {
  const TempFolder folder;
  CompareJob job = small_comparison(folder);
  job.methods = {"es"};
  job.seeds = 1;
  job.within = 0.99;
  const CompareResult result = compare(job);
  ASSERT_EQ(result.runs.size(), 3U) << "full size is added";
  ASSERT_EQ(result.within.size(), 1U);
  EXPECT_NE(result.within[0].find("es, budget 20%"), std::string::npos) << result.within[0];
  EXPECT_NE(read_file(folder / "all/report.html").find("es, budget 20%"), std::string::npos);
}

// A complete run of such quality on validation, and a tenth of it on test.
ComparedRun made_up_run(const char* backbone, const char* method, std::uint64_t seed, double recall,
                        std::uint64_t file_bytes) {
  ComparedRun run;
  run.options.seed = seed;
  run.report.emplace();
  run.report->backbone = backbone;
  run.report->method = method;
  run.report->seed = seed;
  run.report->validation.recall[2] = recall;
  run.report->test.recall[2] = recall / 10;
  run.report->used.file_bytes = file_bytes;
  return run;
}

TEST(SmallestFile, IsChosenByTheMeanOnValidationAndToldByTest) {
  const std::vector<ComparedRun> runs = {
      made_up_run("mf", "full", 1, 0.4, 90'000), made_up_run("mf", "full", 2, 0.6, 90'000),
      made_up_run("mf", "bet", 1, 0.48, 3'000),  made_up_run("mf", "bet", 2, 0.50, 3'000),
      made_up_run("mf", "es", 1, 0.495, 4'000),  made_up_run("mf", "mr", 1, 0.1, 1'000),
      made_up_run("ncf", "bet", 1, 0.9, 10)};
  const std::vector<RunGroup> groups = run_groups(runs);
  const auto method = [&](double share) {
    const std::vector<SmallestFile> found = smallest_within(groups, share);
    EXPECT_EQ(found.size(), 1U) << "ncf has no runs of full size";
    return found.at(0).smallest->method;
  };
  EXPECT_EQ(method(0.03), "bet") << "0.49 is 2 % below 0.5";
  EXPECT_EQ(method(0.015), "es");
  EXPECT_EQ(method(0.005), "full");
  EXPECT_EQ(method(0.9), "mr");
  EXPECT_EQ(smallest_text(smallest_within(groups, 0.03)[0], 0.03),
            "The smallest file within 3 % of full size (mf, recall@20 on validation): bet, budget "
            "-, 3,000 bytes of 90,000; on test recall@20 0.0490 of 0.0500 (-2.00 %).");
  EXPECT_EQ(smallest_text(smallest_within(groups, 0.005)[0], 0.005),
            "No file of these runs is smaller than that of full size and within 0.5 % of full size "
            "(mf, recall@20 on validation).");
}

TEST(Compare, ContinuesAfterAnInterruption) {
  const TempFolder folder;
  CompareJob job = small_comparison(folder);
  job.seeds = 1;
  compare(job);
  const auto whole = table_of(folder / "all/results.csv");
  job.folder = folder / "left";
  CompareCallbacks callbacks;
  // In the second run.
  bool first_is_over = false;
  int steps = 0;
  callbacks.run_ended = [&](const CompareProgress&) { first_is_over = true; };
  callbacks.fit.leave = [&] { return first_is_over && ++steps > 10; };
  const std::string error = test::error_of([&] { compare(job, callbacks); });
  EXPECT_NE(error.find("the same command continues"), std::string::npos) << error;
  EXPECT_EQ(table_of(folder / "left/results.csv").size(), 2U) << "the names and one run";
  compare(job);
  EXPECT_EQ(table_of(folder / "left/results.csv"), whole);
  // Another job may not use its runs.
  job.options.dim = 9;
  EXPECT_NE(test::error_of([&] { compare(job); }).find("was started with --dim 8"),
            std::string::npos);
}

// The best so far of a run that was stopped early is no result of its method.
TEST(Compare, RefusesARunThatWasEndedEarly) {
  const TempFolder folder;
  CompareJob job = small_comparison(folder);
  job.methods = {"es"};
  job.seeds = 1;
  CompareCallbacks callbacks;
  int steps = 0;
  callbacks.fit.stop = [&] { return ++steps > 10; };
  EXPECT_NE(test::error_of([&] { compare(job, callbacks); }).find("was ended early"),
            std::string::npos);
  EXPECT_NE(test::error_of([&] { compare(job); }).find("was ended early"), std::string::npos);
}

TEST(Compare, NotesABudgetThatCannotBeMetAndGoesOn) {
  const TempFolder folder;
  CompareJob job = small_comparison(folder);
  job.methods = {"es"};
  job.seeds = 1;
  job.budgets = {parse_budget("1p"), parse_budget("20%")};
  const CompareResult result = compare(job);
  ASSERT_EQ(result.runs.size(), 2U);
  EXPECT_FALSE(result.runs[0].report.has_value());
  EXPECT_NE(result.runs[0].error.find("1p"), std::string::npos) << result.runs[0].error;
  EXPECT_TRUE(result.runs[1].report.has_value());
}

}  // namespace
}  // namespace bet
