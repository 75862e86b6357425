#include <gtest/gtest.h>

#include "cli/fit_summary.h"
#include "cli/size_histogram.h"
#include "run/fit_phases.h"
#include "run/option_table.h"
#include "run/report_json.h"
#include "run/run_progress.h"
#include "support/toy_data.h"

namespace bet {
namespace {

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  const nlohmann::ordered_json json = {{"name", "caf\xe9"}};
  EXPECT_EQ(json_text(json), "{\"name\":\"caf\xef\xbf\xbd\"}");
}

FitReport report_of(const char* requested, std::uint64_t params, std::uint64_t bytes, bool full) {
  Metrics quality;
  quality.num_users = 1;
  quality.recall[2] = 0.25;
  quality.ndcg[2] = 0.125;
  FitReport report;
  report.budget = ResolvedBudget{.requested = parse_budget(requested),
                                 .params = params,
                                 .bytes = bytes,
                                 .covers_full = full,
                                 .table_bytes = bytes};
  report.used = {300, 0.0469, 1300, 0, Precision::kFloat32, {}};
  report.validation = report.test = quality;
  return report;
}

std::string budget_of(const FitReport& report) { return budget_text(report.budget.value()); }

TEST(FitSummary, SaysWhatWasAskedAllowedAndUsedWithUnits) {
  EXPECT_EQ(budget_of(report_of("5%", 22'400, 90'632, false)),
            "5%: at most 22,400 parameters, up to 90,632 bytes in fp32");
  EXPECT_EQ(budget_of(report_of("2MB", 499'742, 2'000'000, false)),
            "2MB: at most 2,000,000 bytes in fp32, enough for 499,742 parameters");
  EXPECT_EQ(budget_of(report_of("2MB", 336'000, 1'345'032, true)),
            "2MB: holds the full table of 336,000 parameters, 1,345,032 bytes in fp32; nothing "
            "needs to be cut");
  const std::string text = fit_summary(report_of("5%", 22'400, 90'632, false), "runs/x");
  EXPECT_NE(text.find("used        300 parameters (4.69 % of the full table), 1,300 bytes in fp32"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('{'), std::string::npos) << text;
  EXPECT_EQ(text.find("cut short"), std::string::npos) << text;
}

TEST(FitSummary, SaysThatASearchWasCutShortAndWhatTheFileLost) {
  FitReport report = report_of("5%", 22'400, 90'632, false);
  report.planned_trials = 30;
  report.trials.resize(3);
  report.as_trained = report.test;
  report.as_trained->recall[2] = report.as_trained->ndcg[2] = 0.5;
  const std::string text = fit_summary(report, "runs/x");
  EXPECT_NE(text.find("search      cut short after 3 of 30 trainings; to continue it: bet resume "
                      "runs/x --continue-search\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("as trained  recall@20 0.5000  ndcg@20 0.5000 on test, before"),
            std::string::npos)
      << text;
}

Metrics metrics_of(double recall, double ndcg) {
  Metrics metrics;
  metrics.num_users = 1;
  metrics.recall[2] = recall;
  metrics.ndcg[2] = ndcg;
  return metrics;
}

TEST(FitSummary, PutsTheChosenPlanBesideWhatWasMeasuredOnTheWay) {
  FitReport report = report_of("5%", 22'400, 90'632, false);
  report.used.file_bytes = 1'900;
  report.details.full_table = {6'400, 26'632};
  report.details.equal = {.size = 6,
                          .precision = Precision::kInt2,
                          .table = {299, 1'280},
                          .validation = {},
                          .search = {{400, 0.111, 0.119}}};
  report.details.popularity = {metrics_of(0.05, 0.04), metrics_of(0.06, 0.03)};
  const std::string text = fit_summary(report, "runs/x");
  EXPECT_NE(
      text.find(
          "\n"
          "                      table     file  validation            test          search score\n"
          "                      bytes    bytes        R@20    N@20    R@20    N@20  at 400 steps\n"
          "full size            26,632  ~27,232           -       -       -       -             -\n"
          "equal sizes, 6 int2   1,280   ~1,880           -       -       -       -        0.1110\n"
          "chosen plan           1,300    1,900      0.2500  0.1250  0.2500  0.1250        0.1190\n"
          "popularity                -        -      0.0500  0.0400  0.0600  0.0300             -\n"
          "\n"),
      std::string::npos)
      << text;
  report.full_validation = metrics_of(0.3, 0.2);
  report.details.equal->search.reset();
  report.details.equal->validation = metrics_of(0.2, 0.1);
  report.test = {};
  report.details.popularity->test = {};
  const std::string without = fit_summary(report, "runs/x");
  EXPECT_NE(without.find("~27,232      0.3000  0.2000     -     -\n"), std::string::npos)
      << without;
  EXPECT_NE(without.find("~1,880      0.2000  0.1000     -     -\n"), std::string::npos) << without;
  EXPECT_EQ(without.find("search"), std::string::npos) << without;
}

TEST(FitSummary, SaysWhereTheBytesGoAndHowToServe) {
  FitReport report = report_of("5%", 22'400, 90'632, false);
  report.used.file_bytes = 2'000;
  report.details.sections = {{"facts", 20},        {"user rows", 300}, {"item rows", 1'000},
                             {"item ids", 200},    {"user ids", 100},  {"item norms", 40},
                             {"interactions", 340}};
  const std::string text = fit_summary(report, "runs/x");
  EXPECT_NE(text.find("file        2,000 bytes: item rows 50.0 %, interactions 17.0 %, user rows "
                      "15.0 %, item ids 10.0 %, user ids 5.0 %, other 3.0 %\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("report      runs/x/report.html\n"
                      "serve       bet-serve http runs/x --port 8080\n"
                      "results     runs/x\n"),
            std::string::npos)
      << text;
}

TEST(SizeHistogram, HasABlockForEveryPartOfTheSizes) {
  // Sizes 0 to 4.
  EXPECT_EQ(size_histogram(std::vector<std::uint32_t>{3, 8, 0, 1, 1'000}),
            "1,012 rows, 3 empty, sizes 1 ▁·▁█ 4");
  std::vector<std::uint32_t> many(129, 0);
  many[1] = 4;
  many[8] = 4;  // of the first of 16 bars, too
  many[9] = 1;
  many[128] = 2;
  EXPECT_EQ(size_histogram(many), "11 rows, sizes 1 █▁·············▂ 128");
  EXPECT_EQ(size_histogram(std::vector<std::uint32_t>{2}), "2 rows, sizes 1  0");
}

TEST(RunProgress, NumbersThePhasesAndEstimatesTheWhole) {
  RunProgress progress({{"a", "first", 100}, {"b", "second", 300}});
  progress.note({"a", 0, 50, ""}, 10);
  EXPECT_EQ(progress.line(), "1/2 first   0.0%") << "no pace yet";
  progress.note({"a", 25, 50, "best validation score 0.1"}, 11);
  EXPECT_EQ(progress.line().find("ETA"), std::string::npos) << "one second is too short";
  progress.note({"a", 25, 50, "best validation score 0.1"}, 20);
  // Ten seconds for half of it: ten for the rest, sixty for three times the work.
  EXPECT_EQ(progress.line(), "1/2 first  50.0%  best validation score 0.1  ETA 1m 10s");
  EXPECT_EQ(progress.last_line(false), "1/2 first 100.0%  best validation score 0.1");
  EXPECT_EQ(progress.last_line(true), "1/2 first cut short at 50.0%  best validation score 0.1");
  progress.set_work("b", 100);
  EXPECT_NE(progress.line().find("ETA 0m 30s"), std::string::npos) << progress.line();
  progress.note({"b", 1, 4, ""}, 25);
  progress.note({"b", 3, 4, ""}, 29);
  EXPECT_EQ(progress.line(), "2/2 second  75.0%  ETA 0m 02s");
}

TEST(RunProgress, EstimatesWorkWhoseFirstPercentTakesLong) {
  RunProgress progress({{"a", "first", 100}});
  progress.note({"a", 0, 100'000, ""}, 0);
  progress.note({"a", 10, 100'000, ""}, 10);
  EXPECT_EQ(progress.line(), "1/1 first   0.0%") << "ten seconds are too short";
  progress.note({"a", 100, 100'000, ""}, 30);
  EXPECT_EQ(progress.line(), "1/1 first   0.1%  ETA 8h 19m");
}

TEST(RunProgress, GuessesNothing) {
  RunProgress progress(
      {{"pretrain", "full-size model", 10}, {"", "pep", 0}, {"train", "training", 5}});
  progress.note({"pretrain", 0, 10, ""}, 0);
  progress.note({"pretrain", 5, 10, ""}, 100);
  EXPECT_EQ(progress.line(), "1/3 full-size model  50.0%") << "of the method nothing is known";
  progress.note({"prune", 0, 10, ""}, 200);
  progress.note({"prune", 5, 10, ""}, 300);
  EXPECT_EQ(progress.line(), "2/3 pep, prune  50.0%");
  progress.note({"train", 0, 10, ""}, 400);
  progress.note({"train", 0, 10, ""}, 500);
  EXPECT_EQ(progress.line(), "3/3 training   0.0%") << "nothing was done: no pace";
  RunProgress plain({});
  plain.note({"download", 0, 0, "1 MB"}, 0);
  plain.note({"download", 0, 0, "9 MB"}, 9);
  EXPECT_EQ(plain.line(), "download  9 MB");
}

TEST(FitPhases, AreThoseOfTheRun) {
  const Split split = test::toy_split();
  const auto titles = [&](const Config& entries, bool nothing_to_cut) {
    Config all = {{"data", "demo"}, {"budget", "5%"}};
    all.insert(all.end(), entries.begin(), entries.end());
    std::string text;
    for (const Phase& phase :
         phases_of(with_defaults(options_from(all)), split, nothing_to_cut, 0.05)) {
      text += phase.title + " ";
    }
    return text;
  };
  const Config bpr = {{"loss", "bpr"}};
  EXPECT_EQ(titles(bpr, false), "search training final training ");
  EXPECT_EQ(titles({{"method", "bet-paper"}, bpr[0]}, false),
            "full-size model search training final training ");
  EXPECT_EQ(titles(bpr, true), "training final training ");
  EXPECT_EQ(titles({{"method", "es"}, {"final", "train"}, bpr[0]}, false), "training ");
  EXPECT_EQ(titles({{"method", "pep"}, bpr[0]}, false),
            "full-size model pep training final training ");
  EXPECT_EQ(titles({{"method", "es"}}, false), "training choice of the loss final training ");
  EXPECT_EQ(titles({{"method", "es"}, {"final", "train"}}, false),
            "training choice of the loss final training ");
}

// The final training is on train and validation, the one before it on train.
TEST(FitPhases, AreWeighedByStepsColumnsAndInteractions) {
  const Split split = test::toy_split(400, 300, 50'000);
  const auto final_to_train = [&](const Config& entries) {
    Config all = {{"data", "demo"}, {"budget", "5%"}, {"method", "es"}, {"loss", "bpr"}};
    all.insert(all.end(), entries.begin(), entries.end());
    const FitOptions options = with_defaults(options_from(all));
    std::vector<Phase> phases = phases_of(options, split, false, 0.05);
    const double expected = phases.back().work / phases[0].work;
    RunProgress progress(phases);
    set_training_work(progress, options, split, {.columns = 24, .widest = 6});
    progress.note({"train", 0, 100, ""}, 0);
    progress.note({"train", 50, 100, ""}, 100);
    return std::pair(expected, progress.line());
  };
  const auto counts = split.counts();
  const double rows = 10.0 * (split.num_users() + split.num_items());
  const auto train = static_cast<double>(counts.train);
  const double denser =
      (rows + 1.8 * (train + static_cast<double>(counts.validation))) / (rows + 1.8 * train);
  ASSERT_GT(denser, 1.2);
  const Config paper = {{"schedule", "paper"}};
  EXPECT_NEAR(final_to_train(paper).first, denser, 1e-6);
  EXPECT_NEAR(final_to_train({{"schedule", "paper"}, {"backbone", "mf"}}).first, 1, 1e-6)
      << "without a graph interactions cost nothing";
  EXPECT_NEAR(final_to_train({{"backbone", "mf"}}).first, 1 / (2 + 1.0 / 8 + 1.0 / 32), 1e-6)
      << "two shorter trainings and one at a lower rate come before the final one";
  // Four plans side by side for 200 s, of which one is then trained.
  EXPECT_NE(final_to_train(paper).second.find("ETA " + duration_text(100 + 200 * denser / 4)),
            std::string::npos)
      << final_to_train(paper).second;
}

}  // namespace
}  // namespace bet
