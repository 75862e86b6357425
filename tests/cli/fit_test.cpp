#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "data/load.h"
#include "support/gpu.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "train/evaluator.h"

namespace bet {
namespace {

using test::ProgramResult;
using test::read_file;
using test::run_bet;
using test::run_bet_serve;
using test::TempFolder;
using Json = nlohmann::json;

// Pretrained models are kept among these tests, and nothing of the user's is read or written.
const std::string& test_cache() {
  static const TempFolder folder;
  static const std::string path = (folder / "cache").string();
  return path;
}

Json fit(const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {"fit", "--quiet", "--json"};
  if (std::find(arguments.begin(), arguments.end(), "--cache") == arguments.end()) {
    line.insert(line.end(), {"--cache", test_cache()});
  }
  line.insert(line.end(), arguments.begin(), arguments.end());
  const ProgramResult result = run_bet(line);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? Json::parse(result.out) : Json();
}

TEST(Fit, LeavesARunWithTheContractsKeysAndKeepsTheBudget) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const Json report = fit({"demo", "--method", "es", "--budget", "5%", "--out", out});
  EXPECT_EQ(Json::parse(read_file(folder / "run/report.json")), report);
  for (const char* key : {"dataset", "backbone", "method", "seed", "budget", "used", "validation",
                          "test", "trials", "seconds", "steps", "peak_rss_bytes", "versions"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
  EXPECT_EQ(report["budget"]["params"], 22'400);
  EXPECT_EQ(report["used"]["params"], 21'000);
  EXPECT_LE(report["used"]["bytes"], report["budget"]["bytes"]);
  EXPECT_GT(report["test"]["recall@20"], 0.05);
  for (const char* file : {"config.toml", "log.txt", "checkpoint/final.ckpt", "model.bet"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "run" / file)) << file;
  }
  const ProgramResult again = run_bet({"evaluate", out, "demo", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["test"], report["test"]);
}

// Validation recall@20 of ranking all items by their number of training interactions.
double popularity_recall() {
  const Split split = make_split(load_dataset("demo"), SplitKind::kRandom, 1);
  const Graph graph = make_graph(split, TrainingPart::kTrain);
  const auto* offsets = graph.offsets.data_ptr<std::int64_t>();
  const at::Tensor vectors = at::zeros({graph.num_nodes(), 8});
  for (std::int64_t node = 0; node < graph.num_nodes(); ++node) {
    const bool user = node < graph.num_users;
    vectors.data_ptr<float>()[8 * node] =
        user ? 1.0F : static_cast<float>(offsets[node + 1] - offsets[node]);
  }
  return evaluate(vectors, {0, 1}, split, HeldOut::kValidation, graph).recall[2];
}

TEST(Fit, AtFullSizeBeatsPopularityByHalf) {
  const TempFolder folder;
  const Json report = fit({"demo", "--method", "full", "--out", (folder / "run").string()});
  EXPECT_GT(popularity_recall(), 0.05);
  EXPECT_GT(report["validation"]["recall@20"], 1.5 * popularity_recall());
  EXPECT_TRUE(report["budget"].is_null());
  EXPECT_TRUE(report.contains("full"));
}

TEST(Fit, EveryMethodBackboneAndFinalPartRuns) {
  const TempFolder folder;
  int run = 0;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--method", "mr", "--budget", "20000p", "--max-steps", "40"},
           {"--method", "es", "--budget", "100kB", "--backbone", "mf", "--max-steps", "40"},
           {"--method", "es", "--budget", "10%", "--max-steps", "40", "--final", "train"},
           {"--method", "es", "--budget", "10%", "--max-steps", "40", "--final", "all"},
           {"--method", "es", "--budget", "300%", "--dim", "16", "--max-steps", "40"},
           {"--method", "es", "--budget", "10%", "--rows", "bf16", "--batches", "interactions",
            "--max-steps", "40"},
           {"--method", "es", "--budget", "10%", "--schedule", "paper", "--max-steps", "50"},
           {"--method", "mr", "--budget", "100kB", "--backbone", "ncf", "--max-steps", "20"},
           {"--budget", "10%", "--backbone", "ncf", "--max-steps", "20", "--iterations", "4",
            "--cache", (folder / "cache").string()},
           {"--budget", "10%", "--backbone", "ngcf", "--max-steps", "20", "--iterations", "4",
            "--min-dim", "0", "--cache", (folder / "cache").string()},
           {"--method", "full", "--backbone", "ngcf", "--max-steps", "10", "--budget", "100%"}}) {
    std::vector<std::string> line = {"demo", "--effort", "quick", "--out",
                                     (folder / std::to_string(run++)).string()};
    line.insert(line.end(), more.begin(), more.end());
    const Json report = fit(line);
    EXPECT_LE(report["used"]["params"], report["budget"]["params"]);
    EXPECT_LE(report["used"]["bytes"], report["budget"]["bytes"]);
    EXPECT_EQ(report["test"].is_null(), more.back() == "all");
  }
}

// Every method ends in a file that measures and serves as the run did, inside its budget.
TEST(Fit, EveryComparedMethodEndsInAModelInsideItsBudget) {
  const TempFolder folder;
  const std::string cache = (folder / "cache").string();
  int run = 0;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"sided", "--budget", "5%"},
           {"frequency", "--budget", "5%", "--backbone", "ncf"},
           {"magnitude", "--budget", "100kB"},
           {"magnitude", "--budget", "60kB", "--precision", "int8", "--backbone", "ncf"},
           {"pep", "--budget", "5%"},
           {"pep", "--budget", "20000p", "--backbone", "ngcf"},
           {"esapn"},
           {"esapn", "--budget", "10%", "--backbone", "mf"},
           {"optembed"},
           {"optembed", "--backbone", "mf"},
           {"ciess", "--budget", "10%", "--iterations", "3"}}) {
    SCOPED_TRACE(more[0] + " " + std::to_string(run));
    const std::string out = (folder / std::to_string(run++)).string();
    std::vector<std::string> line = {"demo", "--effort",    "quick", "--out", out,  "--cache",
                                     cache,  "--max-steps", "40",    "--dim", "64", "--method"};
    line.insert(line.end(), more.begin(), more.end());
    const Json report = fit(line);
    ASSERT_TRUE(report.is_object());
    const bool budgeted = more.size() > 1 && more[1] == "--budget";
    ASSERT_EQ(report["budget"].is_null(), !budgeted);
    if (budgeted) {
      EXPECT_LE(report["used"]["params"], report["budget"]["params"]);
      EXPECT_LE(report["used"]["bytes"], report["budget"]["bytes"]);
    }
    const double share = report["used"]["params"].get<double>() /
                         (64.0 * 3500 * (std::count(more.begin(), more.end(), "ncf") > 0 ? 2 : 1));
    EXPECT_NEAR(report["used"]["share"].get<double>(), share, 0.51e-4);
    const ProgramResult again = run_bet({"evaluate", out + "/model.bet", "demo", "--json"});
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
    fit({"demo", "--method", "mr", "--budget", "5%", "--max-steps", "100", "--seed", seed,
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

TEST(Fit, AConfigFileGivesOptionsAndTheCommandLineWins) {
  const TempFolder folder;
  const std::string config =
      folder.write("c.toml", "budget = \"10%\"\nmethod = \"es\"\nseed = 5\neffort = \"quick\"\n")
          .string();
  const Json report =
      fit({"demo", "--config", config, "--seed", "6", "--out", (folder / "run").string()});
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

// With a graph the search may leave rows empty; else, and with other methods, it has to be asked
// for.
TEST(Fit, TheLeastSizeIsThatOfMethodAndBackbone) {
  const TempFolder folder;
  int run = 0;
  const auto least = [&](const std::vector<std::string>& more) {
    const std::string name = std::to_string(run++);
    std::vector<std::string> line = {
        "demo",        "--effort", "quick", "--iterations",          "2", "--dim", "16",
        "--max-steps", "20",       "--out", (folder / name).string()};
    line.insert(line.end(), more.begin(), more.end());
    fit(line);
    const std::string config = read_file(folder / name / "config.toml");
    return config.substr(config.find("min-dim = ") + 10, 1);
  };
  EXPECT_EQ(least({"--budget", "20%"}), "0");
  EXPECT_EQ(least({"--budget", "3000p"}), "0") << "less than one parameter a row";
  EXPECT_EQ(least({"--budget", "20%", "--min-dim", "1"}), "1");
  EXPECT_EQ(least({"--budget", "20%", "--backbone", "mf"}), "1");
  EXPECT_EQ(least({"--budget", "20%", "--method", "es"}), "1");
}

TEST(Fit, ItemsMayGoWithoutParametersOfTheirOwn) {
  const TempFolder folder;
  const Json report =
      fit({"demo", "--method", "sided", "--user-share", "1", "--min-dim", "0", "--budget", "5%",
           "--effort", "quick", "--out", (folder / "run").string()});
  EXPECT_EQ(report["used"]["params"], report["budget"]["params"]);
  const ProgramResult equal =
      run_bet({"fit", "demo", "--quiet", "--json", "--method", "es", "--budget", "5%", "--effort",
               "quick", "--out", (folder / "equal").string()});
  EXPECT_GT(report["test"]["recall@20"].get<double>(),
            Json::parse(equal.out)["test"]["recall@20"].get<double>());
  const ProgramResult again = run_bet({"evaluate", (folder / "run").string(), "demo", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["test"], report["test"]);
}

TEST(Fit, AnExistingFolderIsKeptUnlessToldOtherwise) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const std::vector<std::string> line = {"fit", "demo",     "--quiet", "--method", "es", "--budget",
                                         "5%",  "--effort", "quick",   "--out",    out};
  ASSERT_EQ(run_bet(line).exit_code, 0);
  const ProgramResult second = run_bet(line);
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.err.find("--overwrite"), std::string::npos);
  std::vector<std::string> overwrite = line;
  overwrite.push_back("--overwrite");
  EXPECT_EQ(run_bet(overwrite).exit_code, 0);
  folder.write("precious/thesis.txt", "words");
  overwrite[10] = (folder / "precious").string();
  EXPECT_EQ(run_bet(overwrite).exit_code, 1) << "a folder that is no run is never removed";
  EXPECT_TRUE(std::filesystem::exists(folder / "precious/thesis.txt"));
}

TEST(Fit, StandardInputIsCopiedIntoTheRun) {
  const TempFolder folder;
  ASSERT_EQ(run_bet({"data", "synth", (folder / "d.csv").string()}).exit_code, 0);
  const ProgramResult result =
      run_bet({"fit", "-", "--quiet", "--json", "--method", "es", "--budget", "5%", "--effort",
               "quick", "--out", (folder / "run").string()},
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
  const Json report = fit({data, "--method", "es", "--budget", "10%", "--effort", "quick", "--out",
                           (folder / "run").string()});
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["dataset"]["name"], "caf\xef\xbf\xbd");
}

// Debian's LibTorch takes whatever BLAS the loader finds first.
TEST(Fit, WarnsOfTheReferenceBlasWhereABackboneMultiplies) {
  const TempFolder folder;
  const auto says = [&](const char* backbone, const char* libraries) {
    if (libraries != nullptr) ::setenv("LD_LIBRARY_PATH", libraries, 1);
    const ProgramResult result =
        run_bet({"fit", "demo", "--method", "es", "--budget", "10%", "--max-steps", "1",
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
  const auto run = [&](const char* method) {
    return fit({"demo", "--method", method, "--budget", "5%", "--cache", cache, "--out",
                (folder / method).string()});
  };
  const Json bet =
      fit({"demo", "--budget", "5%", "--cache", cache, "--out", (folder / "r").string()});
  EXPECT_EQ(bet["method"], "bet");
  EXPECT_EQ(bet["trials"].size(), 30U);
  const Json& retrained = bet["retrained"];
  EXPECT_GE(retrained.size(), 4U) << "three and equal sizes, which are far from the best";
  EXPECT_LE(retrained.size(), 5U) << "and the best rule, if it is not of the three";
  EXPECT_EQ(retrained.back()["iteration"], 1);
  EXPECT_EQ(bet["used"]["params"], bet["budget"]["params"]);
  for (const char* key : {"iteration", "strategy", "predicted", "fitness", "user_share",
                          "user_family", "item_family", "user_shape", "item_shape"}) {
    EXPECT_TRUE(bet["trials"][0].contains(key)) << key;
  }
  EXPECT_GT(bet["full"]["validation"]["recall@20"], bet["validation"]["recall@20"]);
  for (const char* method : {"es", "mr"}) {
    const Json other = run(method);
    for (const char* part : {"validation", "test"}) {
      EXPECT_GT(bet[part]["recall@20"].get<double>(), 1.3 * other[part]["recall@20"].get<double>())
          << method << " " << part;
    }
  }
}

TEST(Fit, OddSearchesAreRefusedOrDone) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const std::string cache = (folder / "cache").string();
  EXPECT_EQ(run_bet({"fit", "demo", "--budget", "5%", "--iterations", "0"}).exit_code, 2);
  const ProgramResult small = run_bet(
      {"fit", "demo", "--budget", "0.1%", "--min-dim", "1", "--out", out, "--cache", cache});
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_NE(small.err.find("the smallest is"), std::string::npos) << small.err;
  EXPECT_FALSE(std::filesystem::exists(out));
  const Json full = fit({"demo", "--budget", "100%", "--effort", "quick", "--dim", "8",
                         "--max-steps", "40", "--out", out});
  EXPECT_EQ(full["trials"].size(), 0U);
  EXPECT_EQ(full["used"]["params"], 8 * 3500);
  const Json one =
      fit({"demo", "--budget", "5%", "--effort", "quick", "--candidates", "1", "--iterations", "1",
           "--max-steps", "40", "--cache", cache, "--out", (folder / "one").string()});
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
