#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/error.h"
#include "model/executor.h"
#include "support/fit_program.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

// What `bet fit` is given: data, options, limits, folders.
namespace bet {
namespace {

using test::fit;
using test::ProgramResult;
using test::read_file;
using test::run_bet;
using test::TempFolder;
using test::test_cache;
using Json = nlohmann::json;

TEST(Fit, AConfigFileGivesOptionsAndTheCommandLineWins) {
  const TempFolder folder;
  const std::string config =
      folder.write("c.toml", "budget = \"10%\"\nmethod = \"es\"\nseed = 5\neffort = \"quick\"\n")
          .string();
  const Json report = fit({"demo", "--config", config, "--seed", "6", "--max-steps", "20", "--out",
                           (folder / "run").string()});
  EXPECT_EQ(report["budget"]["requested"], "10%");
  EXPECT_EQ(report["seed"], 6);
  const std::string bad = folder.write("bad.toml", "bugdet = \"10%\"\n").string();
  const ProgramResult result = run_bet({"fit", "demo", "--config", bad});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("unknown key 'bugdet'"), std::string::npos) << result.err;
  const std::string broken = folder.write("broken.toml", "budget = = 3\n").string();
  EXPECT_EQ(run_bet({"fit", "demo", "--config", broken}).exit_code, 1);
}

bool has_gpu() {
  try {
    find_device("cuda");
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Fit, RefusesWhatCannotBeAndLeavesNothing) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const auto error = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"fit", "demo", "--out", out, "--cache", test_cache()});
    const ProgramResult result = run_bet(more);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    return result.err;
  };
  EXPECT_NE(error({"--method", "es"}).find("needs --budget"), std::string::npos);
  EXPECT_NE(error({"--method", "optembed", "--budget", "5%"}).find("has no way to aim at a size"),
            std::string::npos);
  EXPECT_NE(error({"--method", "esapn", "--budget", "1%"}).find("the smallest is 1.5625%"),
            std::string::npos);
  EXPECT_NE(error({"--budget", "5"}).find("is not understood"), std::string::npos);
  if (!has_gpu()) {
    EXPECT_NE(error({"--budget", "5%", "--device", "cuda"}).find("CUDA"), std::string::npos);
  }
  EXPECT_NE(error({"--method", "es", "--budget", "0.1%"}).find("the smallest is 0.7813%"),
            std::string::npos);
  EXPECT_NE(error({"--budget", "5%", "--backbone", "mf", "--min-dim", "0"}).find("needs a graph"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out));
}

// Nothing is trained that could not be stored.
TEST(Fit, RefusesSizesThatTheFileCannotHave) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  for (const auto& [backbone, dim] : {std::pair("ncf", "4097"), {"ngcf", "4097"}}) {
    const ProgramResult result = run_bet({"fit", "demo", "--method", "es", "--budget", "1%",
                                          "--backbone", backbone, "--dim", dim, "--out", out});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("--dim 4097 is too large for"), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

TEST(Fit, TheWholeRangeOfSeedsWorksToTheEnd) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const std::string seed = "18446744073709551615";
  const Json report = fit({"demo", "--method", "es", "--budget", "10%", "--max-steps", "10",
                           "--dim", "16", "--seed", seed, "--split-seed", seed, "--out", out});
  EXPECT_EQ(report["seed"], 18446744073709551615ULL);
  EXPECT_EQ(run_bet({"resume", out, "--quiet"}).exit_code, 0);
  EXPECT_EQ(run_bet({"export", out, "--out", (folder / "m.bet").string()}).exit_code, 0);
  EXPECT_EQ(run_bet({"evaluate", (folder / "m.bet").string(), "demo"}).exit_code, 0);
  for (const char* bad : {"-1", "18446744073709551616", "1e3"}) {
    EXPECT_EQ(run_bet({"fit", "demo", "--budget", "5%", std::string("--seed=") + bad}).exit_code, 2)
        << bad;
  }
  EXPECT_EQ(run_bet({"plan", "demo", "--budget", "5%", "--seed=-1"}).exit_code, 2);
}

TEST(Fit, NamesThatAreNotUtf8WorkToTheEnd) {
  const TempFolder folder;
  std::string text =
      "us\xe9r,it\xff"
      "em\n";
  for (int i = 0; i < 600; ++i) {
    text += "u\xfc" + std::to_string(i / 20) + ",i\x7f" + std::to_string(i * 7 % 60) + "\n";
  }
  const std::string data = folder.write("d\xff\x7f.csv", text).string();
  const std::string run = (folder / "r\xe9").string();
  const Json report =
      fit({data, "--user-col", "us\xe9r", "--item-col",
           "it\xff"
           "em",
           "--method", "es", "--budget", "50%", "--dim", "8", "--max-steps", "10", "--out", run});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["dataset"]["users"], 30);
  EXPECT_EQ(run_bet({"resume", run, "--quiet"}).exit_code, 0);
  const ProgramResult exported = run_bet({"export", run});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  const ProgramResult measured = run_bet({"evaluate", run + "/model.bet", data, "--json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_EQ(Json::parse(measured.out)["test"], report["test"]);
}

TEST(Fit, UsesNoMoreThreadsThanCores) {
  const TempFolder folder;
  const ProgramResult result =
      run_bet({"fit", "demo", "--method", "es", "--budget", "5%", "--max-steps", "10", "--threads",
               "1000", "--out", (folder / "run").string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("--threads 1000: this machine has "), std::string::npos) << result.err;
  EXPECT_LE(Json::parse(read_file(folder / "run/report.json"))["threads"],
            std::max(1U, std::thread::hardware_concurrency()));
}

TEST(Fit, AnExistingFolderIsKeptUnlessToldOtherwise) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const std::vector<std::string> line = {"fit", "demo",     "--quiet", "--method",
                                         "es",  "--budget", "5%",      "--max-steps",
                                         "10",  "--out",    out};
  ASSERT_EQ(run_bet(line).exit_code, 0);
  const ProgramResult second = run_bet(line);
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.err.find("--overwrite"), std::string::npos);
  std::vector<std::string> overwrite = line;
  overwrite.push_back("--overwrite");
  EXPECT_EQ(run_bet(overwrite).exit_code, 0);
  folder.write("precious/thesis.txt", "words");
  overwrite[10] = (folder / "precious").string();
  EXPECT_EQ(run_bet(overwrite).exit_code, 1)
      << "a folder that is not a run folder is never removed";
  EXPECT_TRUE(std::filesystem::exists(folder / "precious/thesis.txt"));
}

TEST(Fit, StandardInputIsCopiedIntoTheRun) {
  const TempFolder folder;
  ASSERT_EQ(run_bet({"data", "synth", (folder / "d.csv").string()}).exit_code, 0);
  const ProgramResult result =
      run_bet({"fit", "-", "--quiet", "--json", "--method", "es", "--budget", "5%", "--max-steps",
               "10", "--out", (folder / "run").string()},
              read_file(folder / "d.csv"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["dataset"]["users"], 2000);
  EXPECT_EQ(read_file(folder / "run/stdin"), read_file(folder / "d.csv"));
}

TEST(Fit, DataIsReadAgainAsTheRunReadIt) {
  const TempFolder folder;
  // Not the usual order of columns, and ids in the first line that are usual names of columns.
  std::string text = "2024-01-01,book,reader,5\n";
  for (int i = 0; i < 400; ++i) {
    text += "2024-02-" + std::to_string(10 + i % 19) + ",i" + std::to_string(i * 7 % 40) + ",u" +
            std::to_string(i / 20) + "," + std::to_string(i % 5) + "\n";
  }
  const std::string data = folder.write("d.csv", text).string();
  const std::string run = (folder / "run").string();
  const Json report =
      fit({data,           "--no-header", "--user-col", "3",     "--item-col", "2",
           "--rating-col", "4",           "--time-col", "1",     "--split",    "time",
           "--min-rating", "1",           "--method",   "es",    "--budget",   "50%",
           "--dim",        "8",           "--effort",   "quick", "--out",      run});
  EXPECT_EQ(report["dataset"]["users"], 21);
  EXPECT_EQ(report["dataset"]["interactions"], 321);
  for (const std::string& subject : {run, run + "/model.bet"}) {
    const ProgramResult again = run_bet({"evaluate", subject, data, "--json"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(Json::parse(again.out)["test"], report["test"]) << subject;
  }
}

TEST(Fit, ReportsDataWhoseNameIsNotUtf8) {
  const TempFolder folder;
  const std::string data = (folder / "caf\xe9.csv").string();
  ASSERT_EQ(
      run_bet({"data", "synth", data, "--users", "300", "--items", "200", "--interactions", "6000"})
          .exit_code,
      0);
  const Json report = fit({data, "--method", "es", "--budget", "10%", "--max-steps", "10", "--out",
                           (folder / "run").string()});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["dataset"]["name"], "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace bet
