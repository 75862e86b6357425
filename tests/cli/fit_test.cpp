#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "support/fit_program.h"
#include "support/gpu.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::fit;
using test::ProgramResult;
using test::read_file;
using test::run_bet;
using test::run_bet_file;
using test::run_bet_serve;
using test::TempFolder;
using Json = nlohmann::json;

TEST(Fit, LeavesARunWithTheContractsKeysAndKeepsTheBudget) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const Json report =
      fit({"demo", "--method", "es", "--budget", "5%", "--max-steps", "60", "--out", out});
  EXPECT_EQ(Json::parse(read_file(folder / "run/report.json")), report);
  for (const char* key : {"dataset", "backbone", "method", "seed", "budget", "used", "validation",
                          "test", "trials", "seconds", "steps", "peak_rss_bytes", "versions"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
  EXPECT_EQ(report["budget"]["params"], 22'400);
  EXPECT_EQ(report["used"]["params"], 21'000);
  EXPECT_LE(report["used"]["bytes"], report["budget"]["bytes"]);
  EXPECT_GT(report["test"]["recall@20"], 0.05);
  for (const char* file :
       {"config.toml", "log.txt", "checkpoint/final.ckpt", "model.bet", "report.html"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "run" / file)) << file;
  }
  const ProgramResult again = run_bet({"evaluate", out, "demo", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["test"], report["test"]);
  const std::string page = read_file(folder / "run/report.html");
  std::filesystem::remove(folder / "run/report.html");
  EXPECT_EQ(run_bet({"report", out}).out, out + "/report.html\n");
  EXPECT_EQ(read_file(folder / "run/report.html"), page);
  EXPECT_EQ(run_bet({"report", (folder / "none").string()}).exit_code, 1);
}

TEST(Fit, AtFullSizeBeatsPopularityByHalf) {
  const TempFolder folder;
  const Json report = fit({"demo", "--method", "full", "--dim", "32", "--max-steps", "100", "--out",
                           (folder / "run").string()});
  const double popularity = report["popularity"]["validation"]["recall@20"];
  EXPECT_GT(popularity, 0.05);
  EXPECT_GT(report["validation"]["recall@20"], 1.5 * popularity);
  EXPECT_TRUE(report["budget"].is_null());
  EXPECT_TRUE(report.contains("full"));
}

// A data set that is quickly trained on: 300 users and 200 items.
std::string small_data(const TempFolder& folder) {
  const std::string path = (folder / "small.csv").string();
  const ProgramResult made = run_bet({"data", "synth", path, "--users", "300", "--items", "200",
                                      "--interactions", "6000", "--clusters", "6", "--seed", "1"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return path;
}

TEST(Compare, PrintsATableOfAllRuns) {
  const TempFolder folder;
  const std::string out = (folder / "all").string();
  const ProgramResult result = run_bet({"compare",     small_data(folder),
                                        "--budget",    "20%,1p",
                                        "--method",    "es,full",
                                        "--backbone",  "mf",
                                        "--dim",       "8",
                                        "--max-steps", "8",
                                        "--loss",      "bpr",
                                        "--within",    "90%",
                                        "--out",       out,
                                        "--cache",     test::test_cache()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("2/3 mf-es-1p-1  budget 1p"), std::string::npos) << result.err;
  // As words with one space between them.
  std::string table;
  for (const char c : result.out) {
    if (c != ' ' || !table.ends_with(' ')) table += c;
  }
  EXPECT_TRUE(table.starts_with("backbone method budget runs")) << table;
  EXPECT_NE(table.find("\nmf es 20% 1 "), std::string::npos) << table;
  EXPECT_NE(table.find("\nmf full - 1 "), std::string::npos) << table;
  EXPECT_NE(table.find("\nmf: es against full 20% R@20 "), std::string::npos) << table;
  EXPECT_NE(table.find("within 90 % of full size (mf, recall@20 on validation)"), std::string::npos)
      << table;
  EXPECT_EQ(run_bet({"compare", "demo", "--method", "unknown"}).exit_code, 1);
  EXPECT_EQ(run_bet({"compare", "demo", "--within", "1"}).exit_code, 2);
  EXPECT_EQ(run_bet({"experiment", "table3", "demo"}).exit_code, 2);
  EXPECT_EQ(run_bet({"experiment", "table2"}).exit_code, 2);
}

// In the unit of what was asked for; parameters of a budget of bytes depend on the precision.
void expect_within_budget(const Json& report) {
  EXPECT_LE(report["used"]["bytes"], report["budget"]["bytes"]);
  if (report["budget"]["requested"].get<std::string>().ends_with('B')) return;
  EXPECT_LE(report["used"]["params"], report["budget"]["params"]);
}

TEST(Fit, EveryMethodBackboneAndFinalPartRuns) {
  const TempFolder folder;
  const std::string data = small_data(folder);
  int run = 0;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--method", "mr", "--budget", "8000p", "--max-steps", "40"},
           {"--method", "es", "--budget", "16kB", "--budget-for", "table", "--backbone", "mf",
            "--max-steps", "40"},
           {"--method", "es", "--budget", "10%", "--max-steps", "40", "--final", "train"},
           {"--method", "es", "--budget", "10%", "--max-steps", "40", "--final", "all"},
           {"--method", "es", "--budget", "300%", "--dim", "16", "--max-steps", "40"},
           {"--method", "es", "--budget", "10%", "--rows", "bf16", "--batches", "interactions",
            "--max-steps", "40"},
           {"--method", "es", "--budget", "10%", "--schedule", "paper", "--max-steps", "50"},
           {"--method", "mr", "--budget", "16kB", "--budget-for", "table", "--backbone", "ncf",
            "--max-steps", "8"},
           {"--budget", "10%", "--backbone", "ncf", "--max-steps", "8", "--iterations", "4",
            "--cache", (folder / "cache").string()},
           {"--budget", "10%", "--backbone", "ngcf", "--max-steps", "8", "--iterations", "4",
            "--min-dim", "0", "--cache", (folder / "cache").string()},
           {"--method", "full", "--backbone", "ngcf", "--max-steps", "8", "--budget", "100%"}}) {
    std::vector<std::string> line = {data, "--effort", "quick", "--out",
                                     (folder / std::to_string(run++)).string()};
    line.insert(line.end(), more.begin(), more.end());
    const Json report = fit(line);
    expect_within_budget(report);
    EXPECT_EQ(report["test"].is_null(), more.back() == "all");
  }
}

// Every method ends in a file that measures and serves as the run did, inside its budget.
TEST(Fit, EveryComparedMethodEndsInAModelInsideItsBudget) {
  const TempFolder folder;
  const std::string data = small_data(folder);
  const std::string cache = (folder / "cache").string();
  int run = 0;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"sided", "--budget", "5%"},
           {"frequency", "--budget", "5%", "--backbone", "ncf"},
           {"magnitude", "--budget", "16kB", "--budget-for", "table"},
           {"magnitude", "--budget", "12kB", "--budget-for", "table", "--precision", "int8",
            "--backbone", "ncf"},
           {"pep", "--budget", "5%"},
           {"pep", "--budget", "4000p", "--backbone", "ngcf"},
           {"esapn"},
           {"esapn", "--budget", "10%", "--backbone", "mf"},
           {"optembed"},
           {"optembed", "--backbone", "mf"},
           {"ciess", "--budget", "10%", "--iterations", "3"}}) {
    SCOPED_TRACE(more[0] + " " + std::to_string(run));
    const std::string out = (folder / std::to_string(run++)).string();
    std::vector<std::string> line = {data,  "--effort",    "quick", "--out", out,  "--cache",
                                     cache, "--max-steps", "40",    "--dim", "64", "--method"};
    line.insert(line.end(), more.begin(), more.end());
    const Json report = fit(line);
    ASSERT_TRUE(report.is_object());
    const bool budgeted = more.size() > 1 && more[1] == "--budget";
    ASSERT_EQ(report["budget"].is_null(), !budgeted);
    if (budgeted) expect_within_budget(report);
    const double share = report["used"]["params"].get<double>() /
                         (64.0 * 500 * (std::count(more.begin(), more.end(), "ncf") > 0 ? 2 : 1));
    EXPECT_NEAR(report["used"]["share"].get<double>(), share, 0.51e-4);
    const ProgramResult again = run_bet({"evaluate", out + "/model.bet", data, "--json"});
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_NEAR(Json::parse(again.out)["test"]["recall@20"].get<double>(),
                report["test"]["recall@20"].get<double>(), 0.002);
    EXPECT_EQ(run_bet_serve({"verify", out + "/model.bet"}).exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(out + "/checkpoint/method.ckpt"));
    if (more[0] == "ciess") {
      EXPECT_EQ(report["note"].get<std::string>().rfind("reduced: 3 of 330 trainings", 0), 0U);
      EXPECT_EQ(report["trainings"]["search"], 3);
    }
  }
}

TEST(Fit, SameSeedSameBytes) {
  const TempFolder folder;
  const auto bytes = [&](const char* name, const char* seed, const char* threads) {
    fit({"demo", "--method", "mr", "--budget", "5%", "--max-steps", "40", "--seed", seed,
         "--threads", threads, "--out", (folder / name).string()});
    // The identity in the file names no path and no thread count.
    return read_file(folder / name / "checkpoint/final.ckpt") +
           read_file(folder / name / "model.bet");
  };
  const std::string first = bytes("a", "1", "2");
  EXPECT_EQ(first, bytes("b", "1", "2"));
  EXPECT_EQ(first, bytes("c", "1", "1"));
  EXPECT_NE(first, bytes("d", "2", "2"));
}

// With a graph the search may leave rows empty; else, and with other methods, it has to be asked
// for.
TEST(Fit, TheLeastSizeIsThatOfMethodAndBackbone) {
  const TempFolder folder;
  const std::string data = small_data(folder);
  int run = 0;
  const auto least = [&](const std::vector<std::string>& more) {
    const std::string name = std::to_string(run++);
    std::vector<std::string> line = {
        data,          "--effort", "quick", "--iterations",          "2", "--dim", "16",
        "--max-steps", "20",       "--out", (folder / name).string()};
    line.insert(line.end(), more.begin(), more.end());
    fit(line);
    const std::string config = read_file(folder / name / "config.toml");
    return config.substr(config.find("min-dim = ") + 10, 1);
  };
  EXPECT_EQ(least({"--budget", "20%"}), "0");
  EXPECT_EQ(least({"--budget", "400p"}), "0") << "less than one parameter a row";
  EXPECT_EQ(least({"--budget", "20%", "--min-dim", "1"}), "1");
  EXPECT_EQ(least({"--budget", "20%", "--backbone", "mf"}), "1");
  EXPECT_EQ(least({"--budget", "20%", "--method", "es"}), "1");
}

TEST(Fit, ItemsMayGoWithoutParametersOfTheirOwn) {
  const TempFolder folder;
  const Json report =
      fit({"demo", "--method", "sided", "--user-share", "1", "--min-dim", "0", "--budget", "5%",
           "--max-steps", "60", "--out", (folder / "run").string()});
  EXPECT_EQ(report["used"]["params"], report["budget"]["params"]);
  const ProgramResult equal =
      run_bet({"fit", "demo", "--quiet", "--json", "--method", "es", "--budget", "5%",
               "--max-steps", "60", "--out", (folder / "equal").string()});
  EXPECT_GT(report["test"]["recall@20"].get<double>(),
            Json::parse(equal.out)["test"]["recall@20"].get<double>());
  const ProgramResult again = run_bet({"evaluate", (folder / "run").string(), "demo", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["test"], report["test"]);
}

// Debian's LibTorch takes whatever BLAS the loader finds first.
TEST(Fit, WarnsOfTheReferenceBlasWhereABackboneMultiplies) {
  const TempFolder folder;
  const auto says = [&](const char* backbone, const char* libraries) {
    if (libraries != nullptr) ::setenv("LD_LIBRARY_PATH", libraries, 1);
    const ProgramResult result =
        run_bet_file({"fit", "demo", "--method", "es", "--budget", "10%", "--max-steps", "1",
                      "--backbone", backbone, "--overwrite", "--out", (folder / "run").string()});
    ::unsetenv("LD_LIBRARY_PATH");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err.find("`apt install libopenblas0-pthread`") != std::string::npos;
  };
  constexpr const char* kReference = "/usr/lib/x86_64-linux-gnu/blas";
  constexpr const char* kOpenBlas = "/usr/lib/x86_64-linux-gnu/openblas-pthread";
  const auto has = [](const char* libraries) {
    return std::filesystem::exists(std::filesystem::path(libraries) / "libblas.so.3");
  };
  if (!has(kReference) || !has(kOpenBlas)) {
    GTEST_SKIP() << "needs Debian's reference BLAS and OpenBLAS";
  }
  EXPECT_TRUE(says("ncf", kReference));
  EXPECT_FALSE(says("mf", kReference)) << "nothing is multiplied";
  EXPECT_FALSE(says("ncf", kOpenBlas));
}

TEST(Fit, ByDefaultSearchesAndIsFarAboveEqualAndRandomSizes) {
  const TempFolder folder;
  const std::string cache = (folder / "cache").string();
  // A third of the demo.
  const std::string data = (folder / "data.csv").string();
  ASSERT_EQ(run_bet({"data", "synth", data, "--users", "600", "--items", "450", "--interactions",
                     "18000"})
                .exit_code,
            0);
  const auto run = [&](const char* method) {
    return fit({data, "--method", method, "--budget", "5%", "--cache", cache, "--out",
                (folder / method).string()});
  };
  const Json bet =
      fit({data, "--budget", "5%", "--cache", cache, "--out", (folder / "r").string()});
  EXPECT_EQ(bet["method"], "bet");
  EXPECT_GT(bet["trials"].size(), 40U) << "17 rules, 24 other plans, the better ones again";
  EXPECT_EQ(bet["trainings"]["search"], bet["trials"].size());
  EXPECT_EQ(bet["retrained"].size(), 1U);
  EXPECT_EQ(bet["used"]["params"], bet["budget"]["params"]);
  for (const char* key :
       {"iteration", "strategy", "predicted", "fitness", "user_share", "user_family", "item_family",
        "user_shape", "item_shape", "user_kept", "item_kept", "steps", "fold", "loss"}) {
    EXPECT_TRUE(bet["trials"][0].contains(key)) << key;
  }
  for (const char* method : {"es", "mr"}) {
    const Json other = run(method);
    for (const auto& [part, factor] : {std::pair{"validation", 1.15}, {"test", 1.3}}) {
      EXPECT_GT(bet[part]["recall@20"].get<double>(),
                factor * other[part]["recall@20"].get<double>())
          << method << " " << part;
    }
  }
}

// A search compares plans at the usual rate; MF and NCF by BPR are then trained at lower ones.
TEST(Fit, WhereLowerRatesFollowEqualSizesAreRetrainedBesideTheBestOfTheSearch) {
  const TempFolder folder;
  const Json report =
      fit({"demo", "--backbone", "mf", "--loss", "bpr", "--budget", "10%", "--max-steps", "32",
           "--iterations", "8", "--out", (folder / "r").string()});
  ASSERT_EQ(report["retrained"].size(), 2U);
  const auto score = [&](int plan) {
    return report["retrained"][plan]["final_score"].get<double>();
  };
  constexpr double kNoise = 0.0129;  // 2,000 users, three folds
  const int best = score(0) > (1 + kNoise) * score(1) ? 0 : 1;
  EXPECT_EQ(report["chosen"]["iteration"], report["retrained"][best]["iteration"]);
  EXPECT_EQ(report["retrained"][1]["iteration"], 1) << "equal sizes are trained first";
  EXPECT_EQ(report["trainings"]["retrain"], 2);
}

TEST(Fit, OddSearchesAreRefusedOrDone) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const std::string cache = (folder / "cache").string();
  EXPECT_EQ(run_bet({"fit", "demo", "--budget", "5%", "--retrain-top", "0"}).exit_code, 2);
  const ProgramResult small = run_bet(
      {"fit", "demo", "--budget", "0.1%", "--min-dim", "1", "--out", out, "--cache", cache});
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_NE(small.err.find("the smallest is"), std::string::npos) << small.err;
  EXPECT_FALSE(std::filesystem::exists(out));
  const Json full = fit({"demo", "--budget", "100%", "--effort", "quick", "--dim", "8",
                         "--max-steps", "40", "--out", out});
  EXPECT_EQ(full["trials"].size(), 0U);
  EXPECT_EQ(full["used"]["params"], 8 * 3500);
  const Json one = fit({"demo", "--budget", "5%", "--method", "bet-paper", "--candidates", "1",
                        "--iterations", "1", "--finetune-epochs", "1", "--max-steps", "40",
                        "--cache", cache, "--out", (folder / "one").string()});
  EXPECT_EQ(one["trials"].size(), 1U);
  EXPECT_EQ(one["retrained"].size(), 1U);
  const ProgramResult nowhere =
      run_bet({"fit", "demo", "--budget", "5%", "--out", "/proc/bet/run", "--cache", cache});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("/proc/bet/run"), std::string::npos) << nowhere.err;
}

using GpuFit = test::OnGpu;

TEST_F(GpuFit, RunsEverythingOfTheCpuAndIsMeasuredThere) {
  const TempFolder folder;
  int run = 0;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--method", "es", "--budget", "5%"},
           {"--method", "mr", "--budget", "5%", "--backbone", "mf"},
           {"--method", "bet", "--budget", "5%", "--effort", "quick"},
           {"--method", "full", "--schedule", "paper", "--max-steps", "200"}}) {
    const std::string out = (folder / std::to_string(run++)).string();
    std::vector<std::string> line = {
        "demo", "--device", "cuda", "--out", out, "--cache", (folder / "cache").string()};
    line.insert(line.end(), more.begin(), more.end());
    const Json report = fit(line);
    EXPECT_NE(report["device"], "cpu");
    EXPECT_GT(report["test"]["recall@20"], 0.03);
    for (const char* device : {"cpu", "cuda"}) {
      const ProgramResult again = run_bet({"evaluate", out, "demo", "--json", "--device", device});
      ASSERT_EQ(again.exit_code, 0) << again.err;
      const double measured = Json::parse(again.out)["test"]["recall@20"];
      EXPECT_NEAR(measured, report["test"]["recall@20"].get<double>(), 1e-3);
    }
  }
}

}  // namespace
}  // namespace bet
