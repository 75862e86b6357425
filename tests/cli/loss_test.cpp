#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/fit_program.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::fit;
using test::measured;
using test::ProgramResult;
using test::read_file;
using test::run_bet;
using test::run_bet_serve;
using test::TempFolder;
using Json = nlohmann::json;

TEST(Loss, IsChosenAndRemembered) {
  const TempFolder folder;
  const auto run = [&](const std::string& name) {
    return fit({"demo", "--loss", "auto", "--method", "es", "--budget", "10%", "--dim", "64",
                "--max-steps", "96", "--cache", (folder / "cache").string(), "--out",
                (folder / name).string()});
  };
  const Json first = run("first");
  ASSERT_GE(first["loss"]["trials"].size(), 5U);
  EXPECT_EQ(first["loss"]["trials"][0]["kind"], "bpr");
  EXPECT_EQ(measured((folder / "first").string()), first["test"]);
  EXPECT_EQ(measured((folder / "first/model.bet").string()), first["test"]);
  EXPECT_EQ(Json::parse(read_file(folder / "first/report.json")), first);
  // The file says how it was trained, and the run that this was left to the program.
  const ProgramResult inspected =
      run_bet_serve({"inspect", (folder / "first/model.bet").string(), "--json"});
  const Json facts = Json::parse(inspected.out)["facts"];
  EXPECT_EQ(facts.value("option.loss", Json("bpr")), first["loss"]["kind"]);
  EXPECT_NE(read_file(folder / "first/config.toml").find("loss = \"auto\""), std::string::npos);

  const Json again = run("again");
  EXPECT_TRUE(again["loss"]["trials"].empty());
  EXPECT_EQ(again["loss"]["kind"], first["loss"]["kind"]);
  EXPECT_EQ(again["test"], first["test"]);
  EXPECT_EQ(read_file(folder / "again/model.bet"), read_file(folder / "first/model.bet"));
}

// A file that is scored by cosines measures as the model did, in both forms.
TEST(Loss, OfCosinesIsServedAsItWasTrained) {
  const TempFolder folder;
  for (const std::string backbone : {"mf", "lightgcn", "ngcf"}) {
    const std::string out = (folder / backbone).string();
    const Json report = fit(
        {"demo",        "--loss", "softmax",    "--temperature", "0.15",     "--score", "cosine",
         "--negatives", "64",     "--backbone", backbone,        "--method", "es",      "--budget",
         "20%",         "--dim",  "32",         "--max-steps",   "32",       "--out",   out});
    EXPECT_EQ(measured(out), report["test"]) << backbone;
    EXPECT_EQ(measured(out + "/model.bet"), report["test"]) << backbone;
    const Json best =
        Json::parse(run_bet_serve({"recommend", out + "/model.bet", "--user", "17", "--json"}).out);
    ASSERT_FALSE(best["items"].empty()) << best;
    for (const Json& item : best["items"]) {
      EXPECT_LE(item["score"], 1.0001);
      EXPECT_GE(item["score"], -1.0001);
    }
    if (backbone == "mf") continue;
    const std::string vectors = (folder / (backbone + ".bet")).string();
    ASSERT_EQ(run_bet({"export", out, "--serving", "materialised", "--out", vectors}).exit_code, 0);
    EXPECT_NEAR(measured(vectors)["recall@20"].get<double>(),
                report["test"]["recall@20"].get<double>(), 1e-3)
        << backbone;
  }
}

// Runs of versions without the option were trained by BPR, and are so when they are resumed.
TEST(Loss, OfARunWithoutTheOptionIsBpr) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const Json report = fit({"demo", "--loss", "bpr", "--method", "es", "--budget", "10%", "--dim",
                           "32", "--max-steps", "32", "--out", out});
  EXPECT_EQ(read_file(folder / "run/identity.txt").find("loss"), std::string::npos);
  std::string config = read_file(folder / "run/config.toml");
  for (const std::string line : {"loss = \"bpr\"\n", "score = \"dot\"\n"}) {
    const std::size_t at = config.find(line);
    ASSERT_NE(at, std::string::npos) << config;
    config.erase(at, line.size());
  }
  folder.write("run/config.toml", config);
  std::filesystem::remove(folder / "run/report.json");
  const ProgramResult resumed = run_bet({"resume", out, "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(Json::parse(read_file(folder / "run/report.json"))["test"], report["test"]);
  EXPECT_EQ(measured(out + "/model.bet"), report["test"]);
}

TEST(Loss, OptionsThatContradictEachOtherAreRefused) {
  const auto refused = [](std::vector<std::string> options, const std::string& because) {
    options.insert(options.begin(), {"fit", "demo", "--method", "es", "--budget", "5%"});
    const ProgramResult result = run_bet(options);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_NE(result.err.find(because), std::string::npos) << result.err;
  };
  refused({"--loss", "bpr", "--temperature", "2"}, "--temperature is for --loss softmax");
  refused({"--loss", "softmax", "--temperature", "0"}, "--temperature 0 must be positive");
  refused({"--loss", "softmax", "--negatives", "own"}, "--negatives own has none");
  refused({"--negatives", "33"}, "--negatives 33");
  refused({"--negatives", "1024"}, "--negatives 1024");
  refused({"--backbone", "ncf", "--negatives", "64"}, "ncf has own ones, or pools of 32");
  refused({"--backbone", "ncf", "--score", "cosine"}, "not those of two vectors");
  refused({"--loss", "auto", "--score", "cosine"}, "--loss auto tries both kinds of score");
}

}  // namespace
}  // namespace bet
