#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "run/plan_preview.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::ProgramResult;
using test::run_bet;
using test::run_bet_file;
using test::run_bet_serve;
using test::TempFolder;
using Json = nlohmann::json;

TEST(Cli, StatsAsJsonHasTheContractsKeys) {
  const ProgramResult result = run_bet({"data", "stats", "demo", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["users"], 2000);
  EXPECT_EQ(json["items"], 1500);
  EXPECT_EQ(json["interactions"], 60'000);
  EXPECT_EQ(json["duplicates"], 0);
  EXPECT_DOUBLE_EQ(json["density"].get<double>(), 0.02);
  EXPECT_EQ(json["split"]["train"].get<int>() + json["split"]["validation"].get<int>() +
                json["split"]["test"].get<int>(),
            60'000);
}

TEST(Cli, ReadsStandardInput) {
  const ProgramResult result =
      run_bet({"data", "stats", "-", "--json"}, "user,item\nann,x\nbob,y\nbob,y\n");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["interactions"], 2);
  EXPECT_EQ(Json::parse(result.out)["duplicates"], 1);
}

TEST(Cli, StandardInputWithAFirstLineInDoubtIsRefused) {
  const std::string text = "alice,matrix\nbob,dune\n";
  const ProgramResult refused = run_bet({"data", "stats", "-"}, text);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("--no-header"), std::string::npos) << refused.err;
  const ProgramResult told = run_bet({"data", "stats", "-", "--no-header"}, text);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_NE(told.out.find("columns       user = column 1, item = column 2, no header\n"),
            std::string::npos)
      << told.out;
}

TEST(Cli, StatsAsJsonTellTheColumnsOfTextThatIsNotUtf8) {
  const TempFolder folder;
  const auto file = folder.write("caf\xe9.csv", "reader,libro\xe9\nann,Dune\nbob,\xe9\n");
  const ProgramResult result = run_bet({"data", "stats", file.string(), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["name"], "caf\xef\xbf\xbd");
  EXPECT_EQ(json["columns"],
            "user = column 1 'reader', item = column 2 'libro\xef\xbf\xbd', header");
  EXPECT_EQ(json["header"], true);
  EXPECT_EQ(json["split"]["note"], nullptr);
}

TEST(Cli, StatsNameTheSplitThatUsesAGivenTestPart) {
  const TempFolder folder;
  folder.write("d/train.txt", "0 1 2 3\n1 2 3\n");
  folder.write("d/test.txt", "0 4\n1 4\n");
  const std::string data = (folder / "d").string();
  const ProgramResult random = run_bet({"data", "stats", data});
  ASSERT_EQ(random.exit_code, 0) << random.err;
  EXPECT_NE(random.out.find("--split given"), std::string::npos) << random.out;
  const ProgramResult given = run_bet({"data", "stats", data, "--split", "given"});
  EXPECT_EQ(given.out.find("note"), std::string::npos) << given.out;
}

TEST(Cli, SynthWritesTheDemo) {
  const TempFolder folder;
  const std::string file = (folder / "demo.csv").string();
  ASSERT_EQ(run_bet({"data", "synth", file}).exit_code, 0);
  const auto hash = [](const std::string& data) {
    return Json::parse(run_bet({"data", "stats", data, "--json"}).out)["hash"];
  };
  EXPECT_EQ(hash(file), hash("demo"));
}

TEST(Cli, ErrorsGoToStderrWithExitCodeOne) {
  const ProgramResult result = run_bet_file({"data", "stats", "/no/such/file"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "bet: /no/such/file: cannot open: No such file or directory\n");
}

// What could not be written is an error of its own.
TEST(Cli, OutputThatCannotBeWrittenIsAnError) {
  const auto code = [](const char* program, const std::string& words) {
    const std::string line = std::string(program) + " " + words + " >/dev/full 2>/dev/null";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(code(BET_PROGRAM, "data list"), 1);
  EXPECT_EQ(code(BET_PROGRAM, "plan demo --budget 5% --json"), 1);
  EXPECT_EQ(code(BET_PROGRAM, "--help"), 1);
  EXPECT_EQ(code(BET_SERVE_PROGRAM, "--version"), 1);
}

TEST(Cli, UsageErrorsExitWithTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"nonsense"},
           {"data"},
           {"data", "stats"},
           {"data", "stats", "demo", "--nonsense"},
           {"data", "stats", "demo", "extra"},
           {"data", "stats", "demo", "--split", "half"},
           {"data", "stats", "demo", "--min-rating", "x"},
           {"plan", "demo"},
           {"plan", "demo", "--budget", "5%", "--budget", "6%"}}) {
    EXPECT_EQ(run_bet(arguments).exit_code, 2) << testing::PrintToString(arguments);
  }
}

TEST(Cli, UnknownWordsAreNamedWithTheNearest) {
  const auto error = [](const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 2);
    return result.err.substr(0, result.err.find('\n'));
  };
  EXPECT_EQ(error(run_bet({"train", "demo"})), "bet: unknown command 'train'; did you mean 'fit'?");
  EXPECT_EQ(error(run_bet_file({"fit", "demo", "--bugdet", "5%"})),
            "bet: unknown option '--bugdet'; did you mean '--budget'?");
  EXPECT_EQ(error(run_bet_serve({"inspct", "x"})),
            "bet-serve: unknown command 'inspct'; did you mean 'inspect'?");
  EXPECT_EQ(error(run_bet_serve({"recommend", "x", "--usr", "1"})),
            "bet-serve: unknown option '--usr'; did you mean '--user'?");
}

TEST(Cli, HelpAndVersionSucceed) {
  EXPECT_EQ(run_bet_file({"--help"}).exit_code, 0);
  EXPECT_EQ(run_bet({"data", "stats", "-h"}).exit_code, 0);
  EXPECT_TRUE(run_bet_file({"--version"}).out.starts_with("bet 0."));
}

TEST(Cli, PlanKeepsTheBudgetInEveryUnit) {
  for (const PreviewKind kind :
       {PreviewKind::kSearch, PreviewKind::kEqual, PreviewKind::kRandom, PreviewKind::kSample}) {
    for (const char* budget : {"5%", "30000p", "100kB", "0.1MiB", "1%B", "10%B", "300%", "300%B"}) {
      PlanPreviewJob job;
      job.data.path = "demo";
      job.budget = parse_budget(budget);
      if (job.budget.unit == Budget::Unit::kBytes) job.budget_for = BudgetFor::kTable;
      job.kind = kind;
      const PlanPreview preview = preview_plans(job);
      for (const auto& [plan, origin] : preview.plans) {
        if (!job.budget.in_bytes()) {
          EXPECT_LE(plan.num_params(), preview.allowed.params) << budget;
        }
        EXPECT_LE(plan.stored_bytes(), preview.allowed.bytes) << budget;
      }
    }
  }
  for (const char* method : {"search", "es", "mr", "sample"}) {
    const ProgramResult shown =
        run_bet({"plan", "demo", "--budget", "5%", "--method", method, "--json"});
    ASSERT_EQ(shown.exit_code, 0) << shown.err;
    const Json json = Json::parse(shown.out);
    EXPECT_EQ(json["method"], method);
    EXPECT_LE(json["used"]["params"], json["budget"]["params"]) << method;
    EXPECT_LE(json["used"]["bytes"], json["budget"]["bytes"]) << method;
  }
  const ProgramResult result = run_bet({"plan", "demo", "--budget", "0.1%", "--method", "es"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("the smallest is 0.7813%"), std::string::npos) << result.err;
}

TEST(Cli, PlanShowsWhatASearchBeginsWith) {
  const ProgramResult result = run_bet({"plan", "demo", "--budget", "5 %", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["budget"]["requested"], "5%");
  ASSERT_EQ(json["plans"].size(), 17U) << "es, eleven shares, five exponents";
  for (const Json& plan : json["plans"]) EXPECT_LE(plan["used"]["params"], 22'400);
  EXPECT_EQ(json["plans"][0]["user_sizes"], (Json{{"6", 2000}}));
  EXPECT_EQ(json["plans"][11]["user_share"], 1.0);
  EXPECT_EQ(json["plans"][11]["item_sizes"], (Json{{"0", 1500}}));
  const std::string text = run_bet({"plan", "demo", "--budget", "5%"}).out;
  EXPECT_NE(text.find("budget  5%: at most 22,400 parameters, up to 90,632 bytes in fp32"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("`bet fit` begins with these plans"), std::string::npos) << text;
  EXPECT_NE(run_bet({"plan", "demo", "--budget", "5%", "--method", "sample"}).out.find("at random"),
            std::string::npos);
}

TEST(Cli, ListNamesWhatGetKnows) {
  EXPECT_NE(run_bet({"data", "list"}).out.find("ml-100k"), std::string::npos);
  const ProgramResult result = run_bet({"data", "get", "netflix"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("'netflix'"), std::string::npos);
}

TEST(Cli, UnwritableOutputIsNamedAndLeavesNothing) {
  const ProgramResult result = run_bet({"data", "synth", "/no/such/folder/x.csv"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("/no/such/folder/x.csv"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace bet
