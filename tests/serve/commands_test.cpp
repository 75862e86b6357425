// The commands of bet-serve that inspect a file, and what they print.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/facts.h"
#include "serve/answer.h"
#include "serve/model_json.h"
#include "serve/model_path.h"
#include "serve/raw_client.h"
#include "serve/served_toy.h"
#include "serve/server_process.h"
#include "serve/table_json.h"
#include "support/expect_error.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::ProgramResult;
using test::run_bet_serve;
using test::TempFolder;
using test::ToyModel;
using test::ToyOptions;
using Json = nlohmann::ordered_json;

// Lightgcn's vectors, or its table and graph.
ToyOptions lightgcn(bool materialised) {
  ToyOptions options = test::toy_graph(2);
  if (!materialised) return options;
  options.serving = Serving::kVectors;
  options.layers = 0;
  return options;
}

// A file with these facts.
std::string file_with(const ToyOptions& options, Facts facts) {
  ToyModel toy(options);
  toy.model.facts = std::move(facts);
  return toy.encode();
}

// The model in it, and the memory that it lies in.
struct Opened {
  explicit Opened(const std::string& file)
      : bytes(test::exact_bytes(file)), model(Model::from_bytes(bytes)) {}
  std::vector<std::byte> bytes;
  Model model;
};

// A table of 16 rows of 5: a quarter is 20 parameters.
Facts quarter(std::int64_t used) { return {{"budget.requested", "25%"}, {"used.params", used}}; }

TEST(TableAndBudget, OfVectorsAreTheTrainedTablesPromiseAndTheFilesValues) {
  const Opened file(file_with(lightgcn(true), quarter(20)));
  const Model::Summary summary = file.model.summary();
  ASSERT_GT(summary.params, 20U) << "or nothing could contradict the budget";
  const Json table = table_json(file.model);
  EXPECT_EQ(table, Json({{"holds", "propagated vectors"},
                         {"values", summary.params},
                         {"table_bytes", summary.table_bytes},
                         {"params", 20}}));
  const std::string values = std::to_string(summary.params);
  EXPECT_EQ(table_text(table), "propagated vectors of " + values + " values, " +
                                   std::to_string(summary.table_bytes) +
                                   " bytes, made from a trained table of 20 parameters");
  const Json budget = budget_json(file.model, "m.bet");
  EXPECT_EQ(budget, Json({{"requested", "25%"},
                          {"for", "table"},
                          {"unit", "parameters"},
                          {"of", "trained table"},
                          {"allowed", 20},
                          {"used", 20},
                          {"kept", true}}));
  EXPECT_EQ(budget_text(budget), "25%: 20 parameters of the trained table allowed, 20 used: kept");
  EXPECT_FALSE(budget_json(file.model, "m.bet", {"19p"})["kept"]);

  const Json bytes = budget_json(file.model, "m.bet", {"1MB", "table"});
  EXPECT_EQ(bytes["of"], "rows as stored");
  EXPECT_EQ(bytes["used"], summary.table_bytes);
  EXPECT_EQ(budget_text(bytes), "1MB: 1000000 bytes of the rows as stored allowed, " +
                                    std::to_string(summary.table_bytes) + " used: kept");
}

// An amount of bytes is for the whole file, as `bet fit` takes it, unless the file's own budget was
// for its table, as in files of earlier versions.
TEST(TableAndBudget, AnAmountOfBytesIsForTheWholeFile) {
  const Facts table_budget = {{"budget.requested", std::string("1MB")}};
  Facts file_budget = table_budget;
  file_budget.emplace_back("budget.for", std::string("file"));
  const Opened of_file(file_with(lightgcn(false), file_budget));
  const Model::Summary summary = of_file.model.summary();
  EXPECT_EQ(budget_json(of_file.model, "m.bet")["used"], summary.file_bytes);
  EXPECT_EQ(budget_json(of_file.model, "m.bet")["for"], "file");
  const std::string exactly = std::to_string(summary.file_bytes) + "B";
  EXPECT_TRUE(budget_json(of_file.model, "m.bet", {exactly})["kept"]);
  const std::string less = std::to_string(summary.file_bytes - 1) + "B";
  EXPECT_FALSE(budget_json(of_file.model, "m.bet", {less})["kept"]);
  EXPECT_TRUE(budget_json(of_file.model, "m.bet", {less, "table"})["kept"]);
  EXPECT_THROW(budget_json(of_file.model, "m.bet", {"5%", "file"}), Error);

  const Opened earlier(file_with(lightgcn(false), table_budget));
  EXPECT_EQ(budget_json(earlier.model, "m.bet")["used"], earlier.model.summary().table_bytes);
  const Facts strange = {{"budget.requested", std::string("1MB")},
                         {"budget.for", std::string("x")}};
  EXPECT_THROW(budget_json(Opened(file_with(lightgcn(false), strange)).model, "m.bet"), Error);
}

TEST(TableAndBudget, OfATableAreItsOwnValues) {
  for (const ToyOptions& options : {lightgcn(false), ToyOptions(), test::toy_ncf()}) {
    const Opened file(file_with(options, quarter(3)));  // what is there counts, not what is said
    const std::uint64_t params = file.model.summary().params;
    const Json table = table_json(file.model);
    EXPECT_EQ(table["holds"], "trained table");
    EXPECT_EQ(table["params"], params);
    EXPECT_EQ(table["values"], params);
    EXPECT_EQ(budget_json(file.model, "m.bet")["used"], params);
    EXPECT_EQ(table_text(table).find("vectors"), std::string::npos);
  }
  const Opened none(file_with(lightgcn(false), {}));
  EXPECT_TRUE(budget_json(none.model, "m.bet").is_null());
}

TEST(TableAndBudget, NameTheFactThatIsMissingOrOfAnotherType) {
  const auto error = [](Facts facts) {
    const Opened file(file_with(lightgcn(true), std::move(facts)));
    // Looking at the file still works, and says the same.
    const Json shown = model_json(file.model);
    std::string text = error_of([&] { budget_json(file.model, "m.bet"); });
    EXPECT_EQ("m.bet" + shown["budget"]["error"].get<std::string>().substr(8), text);
    EXPECT_NE(table_text(shown).find("propagated vectors of "), std::string::npos);
    return text;
  };
  EXPECT_EQ(error({{"budget.requested", std::int64_t{5}}, {"used.params", std::int64_t{20}}}),
            "m.bet: the fact 'budget.requested' has the type integer, not text");
  EXPECT_EQ(error({{"budget.requested", "25%"}, {"used.params", 20.0}}),
            "m.bet: the fact 'used.params' has the type real number, not integer");
  EXPECT_EQ(error({{"budget.requested", "25%"}, {"used.params", "20"}}),
            "m.bet: the fact 'used.params' has the type text, not integer");
  EXPECT_EQ(error({{"budget.requested", "25%"}}),
            "m.bet: holds propagated vectors, and no fact 'used.params' says how many parameters "
            "were trained");
  EXPECT_EQ(error(quarter(-1)), "m.bet: the fact 'used.params' is -1");
}

class Commands : public testing::Test {
 protected:
  // A command that succeeds.
  static std::string output(const std::vector<std::string>& line) {
    const ProgramResult result = run_bet_serve(line);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  static std::string error(const std::vector<std::string>& line) {
    const ProgramResult result = run_bet_serve(line);
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_EQ(result.out, "");
    return result.err;
  }
  TempFolder folder_;
};

TEST_F(Commands, VerifyAndInspectAgreeOnVectorsUnderAParameterBudget) {
  const std::string path = folder_.write("m.bet", file_with(lightgcn(true), quarter(20)));
  const Model model = Model::open(path);
  const std::string holds = table_text(table_json(model));
  const std::string budget = budget_text(budget_json(model, path));
  for (const char* const command : {"verify", "inspect"}) {
    const std::string text = output({command, path});
    EXPECT_NE(text.find(holds + "\n"), std::string::npos) << text;
    EXPECT_NE(text.find(budget + "\n"), std::string::npos) << text;
    EXPECT_EQ(text.find(std::to_string(model.summary().params) + " parameters"), std::string::npos)
        << text;
    const Json json = Json::parse(output({command, path, "--json"}));
    EXPECT_EQ(json["params"], 20);
    EXPECT_EQ(json["values"], model.summary().params);
    EXPECT_EQ(json["holds"], "propagated vectors");
    EXPECT_EQ(json["budget"], budget_json(model, path));
  }
  const ProgramResult broken = run_bet_serve({"verify", path, "--budget", "19p"});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_EQ(broken.err, "bet-serve: " + path +
                            ": breaks the budget 19p: 19 parameters of the trained table allowed, "
                            "20 used: BROKEN\n");
}

TEST_F(Commands, AFactOfAnotherTypeIsNamed) {
  const std::string path =
      folder_.write("m.bet", file_with(lightgcn(true), {{"budget.requested", 0.25}}));
  EXPECT_EQ(error({"verify", path}),
            "bet-serve: " + path +
                ": the fact 'budget.requested' has the type real number, not "
                "text\n");
  EXPECT_NE(output({"inspect", path}).find("budget  cannot be checked: the file: the fact"),
            std::string::npos);
}

TEST_F(Commands, InspectSaysWhichTestFiguresAreTheFiles) {
  Facts facts = {{"test.recall@20", 0.24}};
  const std::string old = output({"inspect", folder_.write("old.bet", file_with({}, facts))});
  EXPECT_NE(old.find("test.recall@20           0.24\n"), std::string::npos) << old;
  EXPECT_EQ(old.find("fp32."), std::string::npos) << old;
  facts.emplace_back("test_fp32.recall@20", 0.25);
  ToyOptions options;
  options.precision = Precision::kInt8;
  const std::string path = folder_.write("new.bet", file_with(options, facts));
  const std::string text = output({"inspect", path});
  EXPECT_NE(text.find("test.recall@20           0.24\ntest_fp32.recall@20      0.25\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("test.* was measured with the values in this file (int8), test_fp32.* before "
                      "they were rounded\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(Json::parse(output({"inspect", path, "--json"}))["facts"],
            Json({{"test.recall@20", 0.24}, {"test_fp32.recall@20", 0.25}}));
}

TEST_F(Commands, InspectNamesThePrecisionsOfBothSides) {
  ToyOptions options;
  options.precision = Precision::kInt2;
  const std::string same = folder_.write("same.bet", file_with(options, {}));
  EXPECT_TRUE(output({"inspect", same}).starts_with("mf, int2, prefix layout"));
  options.item_precision = Precision::kInt1;
  const std::string path = folder_.write("mixed.bet", file_with(options, {}));
  EXPECT_TRUE(output({"inspect", path}).starts_with("mf, int2 users, int1 items, prefix layout"));
  const Json json = Json::parse(output({"inspect", path, "--json"}));
  EXPECT_EQ(json["precision"], "int2");
  EXPECT_EQ(json["item_precision"], "int1");
}

TEST_F(Commands, RecommendNamesUnknownItemsAndLeavesThemOut) {
  const std::string path = folder_.write("m.bet", test::served_toy_bytes());
  const ProgramResult known = run_bet_serve({"recommend", path, "--items", "item 0"});
  EXPECT_EQ(known.err, "");
  const ProgramResult mixed = run_bet_serve({"recommend", path, "--items", "what", "item 0"});
  EXPECT_EQ(mixed.exit_code, 0);
  EXPECT_EQ(mixed.out, known.out);
  EXPECT_EQ(mixed.err, "bet-serve: unknown item 'what' is left out\n");
  EXPECT_EQ(error({"recommend", path, "--items", "what", "no"}),
            "bet-serve: unknown items 'what', 'no'\n");
}

TEST_F(Commands, RecommendFilters) {
  const std::string path = folder_.write("m.bet", test::served_toy_bytes());
  const Model model = Model::open(path);
  const std::string_view ids[] = {"item 676", "item 514"};
  const ItemSet set = model.item_set(ids);
  const std::string user(model.user_id(2));
  const std::vector<std::string> line = {"recommend", path, "--json", "--user", user};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return output(more);
  };
  const ItemFilter only{.only = &set, .seen = Seen::kKeep};
  const std::string expected = json_text(user_answer(model, user, 10, only)) + "\n";
  EXPECT_EQ(with({"--include-seen", "--only", "item 676", "item 514", "what"}), expected);
  const std::string list = folder_.write("list", "item 514\nitem 676\n");
  EXPECT_EQ(with({"--include-seen", "--only-file", list}), expected);
  EXPECT_EQ(with({"--exclude", "item 676", "item 514", "--min-score", "-0.25"}),
            json_text(user_answer(model, user, 10, {.exclude = &set, .min_score = -0.25F})) + "\n");
  EXPECT_EQ(error({"recommend", path, "--user", user, "--only-file", "/no/such"}),
            "bet-serve: /no/such: No such file or directory\n");
  EXPECT_EQ(error({"recommend", path, "--user", user, "--only-file", list, "--only", "item 676"}),
            "bet-serve: give either --only or --only-file\n");
}

TEST_F(Commands, RecommendPrintsTitles) {
  const std::string path = folder_.write("m.bet", test::served_toy_bytes());
  const Model model = Model::open(path);
  const std::string user(model.user_id(2));
  const std::string item(model.recommend(user, 1)[0].item);
  const std::string titles = folder_.write("t.csv", "id,title\n" + item + ",\"A, b\"\n");
  std::vector<std::string> line = {"recommend", path, "--user", user, "-k", "1"};
  const std::string plain = output(line);
  line.insert(line.end(), {"--titles", titles});
  EXPECT_EQ(output(line), plain.substr(0, plain.size() - 1) + "  A, b\n");
  line.emplace_back("--json");
  EXPECT_EQ(Json::parse(output(line))["items"][0]["title"], "A, b");
  const std::string all = folder_ / "all.csv";
  output({"recommend", path, "--all", "-k", "1", "--out", all, "--titles", titles});
  const std::string text = test::read_file(all);
  EXPECT_TRUE(text.starts_with("user,rank,item,score,title\n")) << text;
  EXPECT_NE(text.find(",\"A, b\"\n"), std::string::npos) << text;
  const std::string lines = folder_ / "all.jsonl";
  output({"recommend", path, "--all", "-k", "1", "--out", lines, "--titles", titles});
  EXPECT_NE(test::read_file(lines).find("\"title\":\"A, b\""), std::string::npos);
}

TEST_F(Commands, HttpReadsTitlesAndCountsUnknownOnes) {
  const std::string path = folder_.write("m.bet", test::served_toy_bytes());
  const std::string titles = folder_.write("t.tsv", "item 0\tZero\nwhat\tNothing\n");
  const test::ServerProcess server({path, "--port", "0", "--titles", titles});
  test::RawClient client(server.address());
  EXPECT_EQ(client.get("/items?q=zero").body,
            "{\"items\":[{\"item\":\"item 0\",\"title\":\"Zero\"}],\"total\":1}\n");
  EXPECT_NE(server.said().find(", titles of 1 items (1 of unknown ones)"), std::string::npos)
      << server.said();
}

TEST_F(Commands, HttpReadsNamedLists) {
  const std::string path = folder_.write("m.bet", test::served_toy_bytes());
  const std::string list = folder_.write("list", "item 514\nitem 676\nwhat\n");
  const test::ServerProcess server({path, "--port", "0", "--list", "stock=" + list});
  const auto answer = test::RawClient(server.address())
                          .get("/recommend?user=%ff%01&include_seen=1&only_list=stock");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(Json::parse(answer.body)["items"].size(), 2U) << answer.body;
  EXPECT_NE(server.said().find("), list 'stock' (2 items)\n"), std::string::npos) << server.said();
  EXPECT_EQ(error({"http", path, "--port", "0", "--list", "stock"}),
            "bet-serve: --list 'stock': expected NAME=FILE\n");
  EXPECT_EQ(error({"http", path, "--port", "0", "--list", "a=" + list, "--list", "a=" + list}),
            "bet-serve: --list 'a=" + list + "': there are two lists of this name\n");
}

TEST_F(Commands, ARunFolderStandsForItsModelFile) {
  const std::string run = (folder_ / "run").string();
  std::filesystem::create_directory(run);
  const std::string expected =
      "bet-serve: " + run +
      ": is a folder without a model.bet; expected a model file, or the folder of a finished "
      "run\n";
  EXPECT_EQ(error({"recommend", run, "--user", "u0"}), expected);
  EXPECT_EQ(error({"verify", run}), expected);
  EXPECT_EQ(error({"http", run, "--port", "0"}), expected);
  const std::string model = folder_.write("run/model.bet", test::served_toy_bytes());
  EXPECT_EQ(output({"inspect", run}), output({"inspect", model}));
  const std::vector<std::string> user = {"--user", "\xff\x01"};
  EXPECT_EQ(output({"recommend", run, user[0], user[1]}),
            output({"recommend", model, user[0], user[1]}));
  EXPECT_NE(output({"verify", run}).find("checksums   good"), std::string::npos);
  const test::ServerProcess server({run, "--port", "0"});
  EXPECT_EQ(test::RawClient(server.address()).get("/healthz").status, 200);
  EXPECT_NE(server.said().find(" serves " + model + " ("), std::string::npos) << server.said();
}

// The seconds of processor time that a process has taken.
double cpu_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  for (int field = 3; field < 14; ++field) fields >> text;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

TEST_F(Commands, VerifySurvivesThatTheFileIsTruncatedMeanwhile) {
  const std::string path = folder_.write("m.bet", test::served_toy_bytes());
  test::ServerProcess verify({path, "--requests", "10000000"}, {.command = "verify"});
  // Far more than reading the file takes: it answers requests by now.
  while (cpu_seconds(verify.id()) < 0.3 && !verify.ends_within(std::chrono::milliseconds(1))) {
  }
  std::filesystem::resize_file(path, 0);
  if (verify.ends_within(std::chrono::seconds(1))) {
    EXPECT_GE(verify.exit_code(), 0) << "killed by a signal";
  }
}

TEST_F(Commands, WhatIsNotARegularFileIsRefusedAtOnce) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::pair<std::string, std::vector<std::string>>> lines = {
      {"inspect", {}}, {"verify", {}}, {"recommend", {"--user", "a"}}, {"http", {"--port", "0"}}};
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    for (const auto& [command, options] : lines) {
      std::vector<std::string> arguments = {path};
      arguments.insert(arguments.end(), options.begin(), options.end());
      test::ServerProcess process(arguments, {.command = command});
      ASSERT_TRUE(process.ends_within(std::chrono::seconds(30))) << command;
      EXPECT_EQ(process.exit_code(), 1);
      EXPECT_EQ(process.said(), "bet-serve: " + path + ": is not a regular file\n") << command;
    }
  }
}

TEST_F(Commands, ALargeFileOfAnotherKindIsRefusedByItsFirstBytes) {
  const std::string path = folder_.write("large.csv", "user,item\n");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 36U);  // a hole: it takes no room
  EXPECT_EQ(error({"inspect", path}),
            "bet-serve: " + path + ": not a bet model file (bad magic)\n");
}

TEST_F(Commands, WhatIsNotAModelFileIsCalledSo) {
  const std::string path = folder_.write("config.toml", "data = \"demo\"\n");
  for (const char* const command : {"inspect", "verify"}) {
    EXPECT_EQ(error({command, path}),
              "bet-serve: " + path + ": not a bet model file (bad magic)\n");
  }
  EXPECT_EQ(error({"http", path, "--port", "0"}),
            "bet-serve: " + path + ": not a bet model file (bad magic)\n");
}

}  // namespace
}  // namespace bet
