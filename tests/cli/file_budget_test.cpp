#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bet/model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

// Budgets for the whole model file: `bet fit --budget 24kB`.

namespace bet {
namespace {

using test::ProgramResult;
using test::read_file;
using test::run_bet;
using test::run_bet_serve;
using test::TempFolder;
using Json = nlohmann::json;

// 300 users, 200 items and what they share.
class FileBudget : public testing::Test {
 protected:
  FileBudget() {
    const ProgramResult made =
        run_bet({"data", "synth", data_, "--users", "300", "--items", "200", "--interactions",
                 "6000", "--clusters", "6", "--seed", "1"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }

  ProgramResult fit(const std::vector<std::string>& more) {
    out_ = (folder_ / std::to_string(runs_++)).string();
    std::vector<std::string> line = {"fit",         data_,    "--quiet", "--json", "--effort",
                                     "quick",       "--loss", "bpr",     "--dim",  "32",
                                     "--max-steps", "10",     "--out",   out_};
    line.insert(line.end(), more.begin(), more.end());
    return run_bet(line);
  }

  // A run within its budget, by the bytes on disk.
  Json fitted(const std::vector<std::string>& more) {
    const ProgramResult result = fit(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (result.exit_code != 0) return {};
    Json report = Json::parse(result.out);
    const std::size_t bytes = read_file(model()).size();
    EXPECT_EQ(report["used"]["file_bytes"], bytes);
    EXPECT_EQ(report["budget"]["for"], "file");
    EXPECT_LE(bytes, report["budget"]["bytes"]);
    EXPECT_EQ(run_bet_serve({"verify", model()}).exit_code, 0);
    const ProgramResult again = run_bet({"evaluate", model(), data_, "--json"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(Json::parse(again.out)["test"], report["test"]);
    return report;
  }

  std::string model() const { return out_ + "/model.bet"; }

  TempFolder folder_;
  std::string data_ = (folder_ / "small.csv").string();
  std::string out_;
  int runs_ = 0;
};

// Rows whose sizes do not follow the frequency stand in any order, in which interactions take more.
TEST_F(FileBudget, IsKeptWhereSizesDoNotFollowTheFrequency) {
  for (const std::string seed : {"1", "2", "3"}) {
    SCOPED_TRACE(seed);
    const Json report = fitted({"--budget", "14kB", "--method", "mr", "--precision", "int4",
                                "--final", "train", "--seed", seed});
    EXPECT_GT(read_file(model()).size(), 0.9 * report["budget"]["bytes"].get<double>());
  }
}

// Made-up data hardly show it: the order matters most where few items have most interactions.
TEST_F(FileBudget, IsKeptOnRealDataWhereSizesDoNotFollowTheFrequency) {
  const std::filesystem::path folder = test::shared_data("ml-100k");
  if (folder.empty()) GTEST_SKIP() << "no shared/data beside the project";
  data_ = (folder / "u.data").string();
  fitted({"--budget", "80kB", "--method", "mr", "--precision", "int4"});
}

TEST_F(FileBudget, IsKeptByTheWholeFileWithEveryBackbone) {
  for (const std::string backbone : {"mf", "lightgcn", "ncf", "ngcf"}) {
    SCOPED_TRACE(backbone);
    const std::string budget = backbone == "ngcf" || backbone == "ncf" ? "24kB" : "14kB";
    const Json report = fitted({"--budget", budget, "--backbone", backbone, "--method", "sided",
                                "--user-share", "0.5", "--precision", "int4"});
    // Room is kept for texts and padding.
    constexpr double kLeast = 0.94;
    EXPECT_GT(read_file(model()).size(), kLeast * report["budget"]["bytes"].get<double>());
    EXPECT_EQ(report["used"]["seen"], true);
    EXPECT_FALSE(Model::open(model()).recommend(Model::open(model()).user_id(0), 5).empty());
  }
}

// Precision and form are chosen with the plan, by every method that has a choice.
TEST_F(FileBudget, LeavesPrecisionAndFormToTheSearch) {
  for (const std::string method : {"bet", "es"}) {
    SCOPED_TRACE(method);
    const Json report = fitted({"--budget", "14kB", "--method", method});
    EXPECT_EQ(report["budget"]["precision"], "auto");
    EXPECT_TRUE(report["used"]["serving"] == "graph" ||
                report["used"]["serving"] == "materialised");
    if (method != "bet") continue;
    bool tables = false;
    bool vectors = false;
    for (const Json& trial : report["trials"]) {
      tables = tables || trial["form"] == "table";
      vectors = vectors || trial["form"] == "vectors";
    }
    EXPECT_TRUE(tables && vectors) << "both forms are tried";
  }
}

TEST_F(FileBudget, DropsSeenItemsOnlyWhereTheyLeaveNoRoom) {
  const Json kept = fitted({"--budget", "14kB", "--method", "es", "--precision", "int2"});
  EXPECT_EQ(kept["used"]["seen"], true);
  const Json dropped = fitted({"--budget", "6kB", "--method", "es", "--precision", "int2"});
  EXPECT_EQ(dropped["used"]["seen"], false);
  EXPECT_EQ(dropped["used"]["serving"], "materialised");
  EXPECT_NE(read_file(out_ + "/log.txt").find("has to exclude them"), std::string::npos);
  // Exporting the run again makes the same file.
  const std::string before = read_file(model());
  ASSERT_EQ(run_bet({"export", out_}).exit_code, 0);
  EXPECT_EQ(read_file(model()), before);

  const ProgramResult refused =
      fit({"--budget", "6kB", "--method", "es", "--precision", "int2", "--seen", "keep"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("bytes beside the table: the smallest is "), std::string::npos)
      << refused.err;
  const Json asked =
      fitted({"--budget", "14kB", "--method", "es", "--precision", "int2", "--seen", "drop"});
  EXPECT_EQ(asked["used"]["seen"], false);
  const ProgramResult graph =
      fit({"--budget", "14kB", "--method", "es", "--seen", "drop", "--serving", "graph"});
  EXPECT_NE(graph.err.find("--seen drop needs --serving materialised"), std::string::npos)
      << graph.err;
}

// The smallest budget that an error names is one that is kept.
TEST_F(FileBudget, TooSmallNamesTheSmallest) {
  const ProgramResult refused = fit({"--budget", "1kB", "--method", "es", "--backbone", "mf"});
  EXPECT_EQ(refused.exit_code, 1);
  const std::string before = "the smallest is ";
  const std::size_t at = refused.err.find(before);
  ASSERT_NE(at, std::string::npos) << refused.err;
  const std::size_t begin = at + before.size();
  const std::string smallest = refused.err.substr(begin, refused.err.find('B', begin) + 1 - begin);
  fitted({"--budget", smallest, "--method", "es", "--backbone", "mf"});
}

TEST_F(FileBudget, IsForTheTableAloneWhereThatIsAsked) {
  const ProgramResult result =
      fit({"--budget", "14kB", "--budget-for", "table", "--method", "es", "--precision", "int8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["budget"]["for"], "table");
  EXPECT_LE(report["used"]["bytes"], 14'000);
  EXPECT_GT(report["used"]["file_bytes"], 14'000);
  EXPECT_EQ(run_bet_serve({"verify", model()}).exit_code, 0);
  EXPECT_EQ(run_bet_serve({"verify", model(), "--budget", "14kB"}).exit_code, 1);
  EXPECT_NE(fit({"--budget", "5%", "--budget-for", "file"}).err.find("amount of bytes"),
            std::string::npos);
}

// A run that is killed between its parts ends as it would have, whatever form it chose.
// A search that ends with equal sizes, as these two do, gives its rows what these would leave of
// the budget.
TEST_F(FileBudget, OfTheTableIsSpentByEveryPlanOfTheSearch) {
  for (const char* seed : {"2", "3"}) {
    const ProgramResult result = fit({"--budget", "6%B", "--backbone", "mf", "--seed", seed});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json report = Json::parse(result.out);
    const double bytes = report["budget"]["bytes"];
    EXPECT_LE(report["used"]["bytes"], bytes);
    EXPECT_GT(report["used"]["bytes"], 0.99 * bytes) << "seed " << seed;
  }
}

TEST_F(FileBudget, IsResumedToTheSameFile) {
  fitted({"--budget", "7kB", "--method", "bet", "--iterations", "2"});
  const std::string whole = read_file(model());
  std::filesystem::remove(out_ + "/report.json");
  std::filesystem::remove(model());
  std::filesystem::remove(out_ + "/checkpoint/final.ckpt");
  const ProgramResult resumed = run_bet({"resume", out_, "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(read_file(model()), whole);
}

}  // namespace
}  // namespace bet
