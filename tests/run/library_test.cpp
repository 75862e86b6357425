#include <gtest/gtest.h>

#include <fstream>

#include "bet/model.h"
#include "run/evaluate.h"
#include "run/export.h"
#include "run/fit.h"
#include "run/option_table.h"
#include "run/report_json.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::read_file;
using test::TempFolder;

FitJob small_job(const TempFolder& folder, const char* budget = "10%") {
  FitJob job;
  job.options = options_from({{"data", "demo"},
                              {"budget", budget},
                              {"method", "es"},
                              {"dim", "16"},
                              {"max-steps", "30"},
                              {"effort", "quick"},
                              {"cache", (folder / "cache").string()}});
  job.folder = folder / "run";
  return job;
}

ErrorKind kind_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::kInternal;
}

TEST(Library, TrainsSavesMeasuresAndExportsInOneProcess) {
  const TempFolder folder;
  const FitResult result = fit(small_job(folder));
  EXPECT_EQ(result.folder, folder / "run");
  EXPECT_LE(result.report.used.params, result.report.budget->params);
  const Metrics run = evaluate_model({.subject = result.folder, .data = "demo"});
  EXPECT_EQ(run.recall, result.report.test.recall);
  const Metrics file = evaluate_model({.subject = result.folder / "model.bet", .data = "demo"});
  EXPECT_EQ(file.ndcg, result.report.test.ndcg);
  ExportJob job;
  job.run = result.folder;
  job.precision = Precision::kInt8;
  job.out = folder / "small.bet";
  const ExportResult small = export_model(job);
  EXPECT_LT(small.report.used.file_bytes, result.report.used.file_bytes);
  EXPECT_EQ(small.report.as_trained->recall, result.report.test.recall);
  EXPECT_EQ(Model::open((folder / "small.bet").string()).summary().precision, "int8");
}

TEST(Library, SaysTheMemoryOfATrainingBeforeItBegins) {
  for (const char* method : {"es", "bet"}) {
    const TempFolder folder;
    FitJob job = small_job(folder);
    job.options.method = method;
    job.options.search.iterations = 1;
    job.options.search.retrain_top = 1;
    std::string said;
    bool trains = false;
    FitCallbacks callbacks;
    callbacks.message = [&](const std::string& text) {
      if (text.starts_with("memory      training takes ")) {
        EXPECT_FALSE(trains);
        said = text;
      }
    };
    callbacks.progress.progress = [&](const RunProgress&) { trains = true; };
    fit(job, callbacks);
    EXPECT_TRUE(trains);
    EXPECT_NE(said.find(" MB are free on cpu"), std::string::npos) << said;
  }
}

TEST(Library, AReportIsReadBackToTheLastDigit) {
  const TempFolder folder;
  FitJob job = small_job(folder);
  job.options.method = "bet";
  job.options.search.iterations = 3;
  job.options.search.retrain_top = 1;
  job.options.precision = Precision::kInt8;
  const FitResult result = fit(job);
  const std::filesystem::path path = result.folder / "report.json";
  const FitReport again = read_report(path);
  EXPECT_EQ(report_json(again), report_json(result.report));
  EXPECT_EQ(json_text(report_json(again), 2) + "\n", read_file(path));
  EXPECT_GT(again.trials.size(), 15U) << "every rule, and what follows";
  EXPECT_FALSE(again.retrained.empty());
  std::ofstream(path) << "{}";
  EXPECT_NE(test::error_of([&] { read_report(path); }).find("is not the report of a run"),
            std::string::npos);
}

TEST(Library, ReportsProgressAndMessages) {
  const TempFolder folder;
  std::string messages;
  std::vector<std::string> ends;
  std::filesystem::path began;
  int reports = 0;
  FitCallbacks callbacks;
  callbacks.message = [&](const std::string& line) { messages += line + "\n"; };
  callbacks.began = [&](const std::filesystem::path& path) { began = path; };
  callbacks.progress.progress = [&](const RunProgress&) { ++reports; };
  callbacks.progress.phase_ended = [&](const RunProgress& progress, bool cut_short) {
    ends.push_back(progress.last_line(cut_short));
  };
  fit(small_job(folder), callbacks);
  EXPECT_NE(messages.find("2,000 users"), std::string::npos) << messages;
  EXPECT_EQ(began, folder / "run");
  EXPECT_GT(reports, 30);
  ASSERT_EQ(ends.size(), 3U);
  EXPECT_EQ(ends[0].rfind("1/3 training 100.0%", 0), 0U) << ends[0];
  EXPECT_EQ(ends[1].rfind("2/3 choice of the loss 100.0%", 0), 0U) << ends[1];
  EXPECT_EQ(ends[2].rfind("3/3 final training 100.0%", 0), 0U) << ends[2];
}

TEST(Library, StopsWithTheBestOrLeavesToBeResumed) {
  const TempFolder folder;
  const FitResult whole = fit(small_job(folder));
  const std::string model = read_file(whole.folder / "model.bet");

  FitJob left = small_job(folder);
  left.folder = folder / "left";
  int steps = 0;
  FitCallbacks leaves;
  leaves.leave = [&] { return ++steps > 12; };
  EXPECT_EQ(kind_of([&] { fit(left, leaves); }), ErrorKind::kInterrupted);
  EXPECT_FALSE(std::filesystem::exists(left.folder / "model.bet"));
  fit(resume_job(left.folder));
  EXPECT_EQ(read_file(left.folder / "model.bet"), model);

  FitJob stopped = small_job(folder);
  stopped.folder = folder / "stopped";
  steps = 0;
  FitCallbacks stops;
  stops.stop = [&] { return ++steps == 12; };
  const FitResult early = fit(stopped, stops);
  EXPECT_TRUE(early.report.interrupted);
  EXPECT_TRUE(std::filesystem::exists(early.folder / "model.bet"));
}

TEST(Library, ErrorsHaveAKind) {
  const TempFolder folder;
  EXPECT_EQ(kind_of([&] { fit(small_job(folder, "0.1%")); }), ErrorKind::kBudget);
  FitJob full = small_job(folder, "50%");
  full.options.method = "full";
  EXPECT_EQ(kind_of([&] { fit(full); }), ErrorKind::kBudget);
  FitJob missing = small_job(folder);
  missing.options.data.path = (folder / "none.csv").string();
  EXPECT_EQ(kind_of([&] { fit(missing); }), ErrorKind::kNotFound);
  FitJob odd = small_job(folder);
  odd.options.backbone = "bert";
  EXPECT_EQ(kind_of([&] { fit(odd); }), ErrorKind::kBadInput);
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

}  // namespace
}  // namespace bet
