#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "bet/model.h"
#include "data/split.h"
#include "data/synthetic.h"
#include "runtime/model_writer.h"
#include "support/fit_program.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::measured;
using test::ProgramResult;
using test::read_file;
using test::run_bet;
using test::run_bet_serve;
using test::TempFolder;
using Json = nlohmann::json;

// A trained run with sizes of its own for each side, in one plan.
struct TrainedRun {
  TempFolder folder;
  std::string path = (folder / "run").string();
  Json report;

  explicit TrainedRun(std::vector<std::string> more = {}) {
    std::vector<std::string> line = {"fit",      "demo",  "--quiet",      "--json",
                                     "--method", "sided", "--user-share", "0.9",
                                     "--effort", "quick", "--out",        path};
    if (more.empty()) more = {"--budget", "5%"};
    if (std::ranges::find(more, "--max-steps") == more.end()) {
      more.insert(more.end(), {"--max-steps", "60"});
    }
    line.insert(line.end(), more.begin(), more.end());
    const ProgramResult result = run_bet(line);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (result.exit_code == 0) report = Json::parse(result.out);
  }

  std::string model() const { return path + "/model.bet"; }
  std::string exported(const std::vector<std::string>& options) const {
    const std::string out = (folder / "exported.bet").string();
    std::vector<std::string> line = {"export", path, "--out", out};
    line.insert(line.end(), options.begin(), options.end());
    const ProgramResult result = run_bet(line);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return out;
  }
};

TEST(ModelFile, OfFitMeasuresAsTheCheckpointAndIsCountedToTheByte) {
  const TrainedRun run;
  EXPECT_EQ(measured(run.model()), run.report["test"]);
  const std::string bytes = read_file(run.model());
  EXPECT_EQ(run.report["used"]["file_bytes"], bytes.size());
  const ProgramResult inspected = run_bet_serve({"inspect", run.model(), "--json"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  const Json json = Json::parse(inspected.out);
  std::size_t sum = 0;
  for (const Json& section : json["sections"]) sum += section["bytes"].get<std::size_t>();
  EXPECT_EQ(sum, bytes.size());
  EXPECT_EQ(json["file_bytes"], bytes.size());
  EXPECT_EQ(json["params"], run.report["used"]["params"]);
  EXPECT_EQ(json["table_bytes"], run.report["used"]["bytes"]);
  EXPECT_EQ(json["facts"]["budget.requested"], "5%");
  EXPECT_EQ(json["facts"]["test.recall@20"], run.report["test"]["recall@20"]);
  EXPECT_EQ(bytes.find("/tmp"), std::string::npos) << "no path of this machine";
}

// The facts about the quality on test that a file states of itself.
Json stated(const std::string& file, const std::string& prefix) {
  Json json = Json::object();
  const Model model = Model::open(file);
  for (const auto& [name, fact] : model.facts()) {
    if (name.starts_with(prefix)) json[name.substr(prefix.size())] = std::get<double>(fact);
  }
  return json;
}

TEST(ModelFile, StatesItsOwnQualityAndNotThatOfTheTrainedModel) {
  const TrainedRun run({"--budget", "5%", "--max-steps", "40"});
  for (const char* precision : {"int8", "int4"}) {
    for (const char* serving : {"graph", "materialised"}) {
      SCOPED_TRACE(std::string(precision) + " " + serving);
      const std::string file = run.exported({"--precision", precision, "--serving", serving});
      EXPECT_EQ(stated(file, "test."), measured(file));
      EXPECT_NE(stated(file, "test."), run.report["test"]);
      EXPECT_EQ(stated(file, "test_fp32."), run.report["test"]);
    }
  }
  EXPECT_EQ(Json::parse(read_file(run.path + "/report.json")), run.report)
      << "the run's own file is still the same";
  const TrainedRun small(
      {"--budget", "5%", "--max-steps", "40", "--precision", "int4", "--serving", "materialised"});
  EXPECT_EQ(small.report["test"], measured(small.model()));
  EXPECT_EQ(stated(small.model(), "test."), small.report["test"]);
  EXPECT_EQ(small.report["test_fp32"], measured(small.path)) << "the trained model's";
  EXPECT_EQ(stated(small.model(), "test_fp32."), small.report["test_fp32"]);
  EXPECT_NE(small.report["test"], small.report["test_fp32"]);
}

// What is trained is what is served: the figures of the run are those of its file, to the last
// digit, and no second ones stand beside them.
TEST(ModelFile, OfRowsTrainedInItsPrecisionHasTheFiguresOfTheRun) {
  for (const char* precision : {"int8", "int3", "int2", "ternary", "int1"}) {
    SCOPED_TRACE(precision);
    const TrainedRun run(
        {"--budget", "20%", "--dim", "32", "--max-steps", "20", "--precision", precision});
    EXPECT_EQ(run.report["used"]["precision"], precision);
    EXPECT_EQ(run.report["test"], measured(run.model()));
    EXPECT_EQ(run.report["test"], measured(run.path)) << "of the trained values";
    EXPECT_EQ(stated(run.model(), "test."), run.report["test"]);
    EXPECT_FALSE(run.report.contains("test_fp32"));
    // Written again in another precision, the file has the rows that were trained.
    const std::string wide = run.exported({"--precision", "fp32"});
    EXPECT_EQ(measured(wide), run.report["test"]);
    EXPECT_GT(read_file(wide).size(), read_file(run.model()).size());
  }
}

// The same where rows keep any columns.
TEST(ModelFile, OfMaskedRowsTrainedInItsPrecisionHasTheFiguresOfTheRun) {
  for (const char* backbone : {"lightgcn", "mf"}) {
    SCOPED_TRACE(backbone);
    const TempFolder folder;
    const std::string out = (folder / "run").string();
    const Json report =
        test::fit({"demo", "--method", "magnitude", "--backbone", backbone, "--budget", "20%",
                   "--dim", "16", "--max-steps", "20", "--precision", "int2", "--out", out});
    ASSERT_TRUE(report.is_object());
    EXPECT_EQ(report["used"]["precision"], "int2");
    EXPECT_EQ(report["test"], measured(out + "/model.bet"));
    EXPECT_EQ(report["test"], measured(out)) << "of the trained values";
  }
}

// What holds the full table needs no low precision, and a share of the bytes is understood by the
// server's commands.
TEST(ModelFile, OfABudgetInBytesThatHoldsTheFullTableIsNotQuantised) {
  for (const char* method : {"es", "full"}) {
    const TempFolder folder;
    const std::string out = (folder / "run").string();
    const ProgramResult fitted =
        run_bet({"fit", "demo", "--json", "--quiet", "--method", method, "--effort", "quick",
                 "--budget", "101%B", "--max-steps", "4", "--dim", "8", "--out", out});
    ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
    const Json report = Json::parse(fitted.out);
    EXPECT_EQ(report["used"]["precision"], "fp32") << method;
    EXPECT_EQ(report["used"]["share"], 1.0) << method;
    const Json json = Json::parse(run_bet_serve({"inspect", out, "--json"}).out);
    EXPECT_EQ(json["facts"]["full_validation.recall@20"],
              report["full"]["validation"]["recall@20"]);
    EXPECT_EQ(run_bet_serve({"verify", out}).exit_code, 0);
    EXPECT_EQ(run_bet_serve({"verify", out, "--budget", "50%B"}).exit_code, 1);
  }
}

// A loss that was chosen for one precision is not that of another, however alike the plans are.
TEST(ModelFile, OfAnotherPrecisionHasALossOfItsOwn) {
  const TempFolder folder;
  const auto fit = [&](const std::string& precision, const std::string& cache) {
    const std::string out = (folder / (precision + "-" + cache)).string();
    const ProgramResult fitted = run_bet(
        {"fit",         "demo",  "--json",      "--quiet", "--method", "es",
         "--effort",    "quick", "--loss",      "auto",    "--budget", "10%",
         "--max-steps", "40",    "--precision", precision, "--cache",  (folder / cache).string(),
         "--out",       out});
    EXPECT_EQ(fitted.exit_code, 0) << fitted.err;
    return Json::parse(fitted.out);
  };
  EXPECT_FALSE(fit("fp32", "shared")["loss"]["trials"].empty());
  EXPECT_FALSE(fit("int1", "shared")["loss"]["trials"].empty()) << "not taken from the cache";
}

// A budget of bytes chooses the precision with the plan and is spent.
TEST(ModelFile, OfABudgetInBytesHasThePrecisionThatTheSearchChose) {
  const TempFolder folder;
  const std::string out = (folder / "run").string();
  const ProgramResult fitted =
      run_bet({"fit", "demo", "--json", "--quiet", "--effort", "quick", "--budget", "4%B", "--dim",
               "32", "--max-steps", "20", "--iterations", "6", "--out", out});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const Json report = Json::parse(fitted.out);
  EXPECT_NE(report["used"]["precision"], "fp32");
  EXPECT_EQ(report["budget"]["precision"], "auto");
  const auto allowed = report["budget"]["bytes"].get<double>();
  EXPECT_LE(report["used"]["bytes"].get<double>(), allowed);
  EXPECT_GE(report["used"]["bytes"].get<double>(), 0.99 * allowed);
  EXPECT_EQ(report["test"], measured(out + "/model.bet"));
  std::set<std::string> tried;
  for (const Json& trial : report["trials"]) tried.insert(trial["precision"]);
  for (const char* one : {"int4", "int3", "int2", "ternary", "int1"}) {
    EXPECT_TRUE(tried.contains(one)) << one;
  }
}

TEST(ModelFile, WrittenAgainInItsRunIsWhatTheReportIsAbout) {
  const TrainedRun run({"--budget", "5%", "--max-steps", "40"});
  const auto report = [&] { return Json::parse(read_file(run.path + "/report.json")); };
  ASSERT_EQ(run_bet({"export", run.path, "--precision", "int4", "--threads", "1"}).exit_code, 0);
  EXPECT_EQ(report()["test"], measured(run.model()));
  EXPECT_EQ(report()["test_fp32"], run.report["test"]);
  EXPECT_EQ(report()["used"]["file_bytes"], read_file(run.model()).size());
  EXPECT_LT(report()["used"]["bytes"], run.report["used"]["bytes"]);
  ASSERT_EQ(run_bet({"export", run.model()}).exit_code, 0) << "the file stands for its run";
  EXPECT_EQ(report(), run.report);
}

TEST(ModelFile, WithoutSeenItemsCannotBeServedByGraph) {
  const TrainedRun run({"--budget", "5%", "--max-steps", "20"});
  const std::string out = (run.folder / "without.bet").string();
  const ProgramResult refused = run_bet({"export", run.path, "--without-seen", "--out", out});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("--without-seen needs --serving materialised"), std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(ModelFile, InEveryPrecisionAndFormMeasuresAlmostTheSame) {
  const TrainedRun run;
  const auto full = run.report["test"]["recall@20"].get<double>();
  std::size_t last = read_file(run.model()).size();
  for (const char* precision : {"fp16", "int8", "int4"}) {
    const std::string graph = run.exported({"--precision", precision});
    EXPECT_LT(read_file(graph).size(), last) << precision;
    last = read_file(graph).size();
    const double allowed = std::string(precision) == "int4" ? 0.03 : 0.006;
    EXPECT_NEAR(measured(graph)["recall@20"].get<double>(), full, allowed * full) << precision;
    const std::string vectors =
        run.exported({"--precision", precision, "--serving", "materialised"});
    EXPECT_NEAR(measured(vectors)["recall@20"].get<double>(), full, allowed * full) << precision;
  }
}

TEST(ModelFile, BothFormsServeTheSame) {
  const TrainedRun run;
  const Model graph = Model::open(run.model());
  const Model vectors = Model::open(run.exported({"--serving", "materialised"}));
  EXPECT_EQ(graph.summary().serving, "graph");
  EXPECT_EQ(vectors.summary().serving, "materialised");
  for (std::uint32_t row = 0; row < graph.num_users(); row += 97) {
    const std::string user(graph.user_id(row));
    const auto a = graph.recommend(user, 10);
    const auto b = vectors.recommend(user, 10);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i].score, b[i].score, 1e-4 * std::abs(a[i].score)) << user;
      EXPECT_NEAR(graph.score(user, a[i].item), a[i].score, 1e-4 * std::abs(a[i].score));
    }
    EXPECT_EQ(graph.seen_items(user).size(), vectors.seen_items(user).size());
  }
  const Model without = Model::open(run.exported({"--serving", "materialised", "--without-seen"}));
  EXPECT_TRUE(without.seen_items(graph.user_id(0)).empty());
}

// What the runtime recommends, measured here, is what LibTorch's ranking measured.
double served_recall(const Model& model) {
  Dataset demo = synthetic_dataset({});
  const Split split =
      make_split(std::move(demo.interactions), demo.num_items(), SplitKind::kRandom, 1);
  double sum = 0;
  double users = 0;
  for (UserId user = 0; user < split.num_users(); ++user) {
    const auto held = split.test(user);
    if (held.empty()) continue;
    std::set<std::string> wanted;
    for (const ItemId item : held) wanted.insert(demo.items.name(item));
    double hits = 0;
    for (const ScoredItem& item : model.recommend(demo.users.name(user), 20)) {
      hits += wanted.contains(std::string(item.item)) ? 1 : 0;
    }
    sum += hits / static_cast<double>(held.size());
    ++users;
  }
  return sum / users;
}

TEST(ModelFile, OfEveryBackboneIsServedAsItWasMeasured) {
  for (const char* backbone : {"mf", "lightgcn", "ngcf", "ncf"}) {
    SCOPED_TRACE(backbone);
    const TrainedRun run({"--backbone", backbone, "--dim", "32", "--budget", "20%", "--loss", "bpr",
                          "--max-steps", "30"});
    EXPECT_EQ(measured(run.model()), run.report["test"]);
    const auto recall = run.report["test"]["recall@20"].get<double>();
    EXPECT_GT(recall, 0.05);
    const Model model = Model::open(run.model());
    EXPECT_EQ(model.summary().backbone, backbone);
    EXPECT_EQ(model.summary().table_bytes, run.report["used"]["bytes"]);
    EXPECT_NEAR(served_recall(model), recall, 1e-3 * recall);
    const ProgramResult verified = run_bet_serve({"verify", run.model()});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    const std::string small = run.exported({"--precision", "int8", "--serving", "materialised"});
    EXPECT_NEAR(measured(small)["recall@20"].get<double>(), recall, 0.01 * recall);
    EXPECT_NEAR(served_recall(Model::open(small)), recall, 0.01 * recall);
  }
}

TEST(ModelFile, AByteBudgetIsSpentByPrecisionAndNeverBroken) {
  for (const char* precision : {"fp32", "int8", "int4"}) {
    const TrainedRun run({"--budget", "64KiB", "--budget-for", "table", "--precision", precision});
    const Model::Summary summary = Model::open(run.model()).summary();
    EXPECT_LE(summary.table_bytes, 65'536U);
    EXPECT_GT(summary.table_bytes, 60'000U) << precision;
    EXPECT_EQ(run.report["used"]["bytes"], summary.table_bytes);
    EXPECT_EQ(run_bet_serve({"verify", run.model()}).exit_code, 0);
    const ProgramResult refused =
        run_bet({"export", run.path, "--serving", "materialised", "--precision", "fp32"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.err.find("more than the run's --budget 64KiB"), std::string::npos)
        << refused.err;
  }
  // Vectors that are rounded after training cannot be narrower than the plan.
  const TempFolder folder;
  const ProgramResult early = run_bet({"fit", "demo", "--method", "sided", "--backbone", "ngcf",
                                       "--budget", "64KiB", "--budget-for", "table", "--serving",
                                       "materialised", "--out", (folder / "run").string()});
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_NE(early.err.find("--serving graph stores the table alone"), std::string::npos)
      << early.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "run")) << "nothing is begun";
}

// Vectors under a budget of bytes are trained as they are stored.
TEST(ModelFile, OfVectorsTrainedInItsPrecisionHasTheFiguresOfTheRun) {
  for (const char* precision : {"int8", "int3", "ternary"}) {
    SCOPED_TRACE(precision);
    const TrainedRun run({"--budget", "5%B", "--dim", "32", "--max-steps", "20", "--precision",
                          precision, "--serving", "materialised"});
    EXPECT_EQ(run.report["used"]["precision"], precision);
    EXPECT_EQ(run.report["used"]["serving"], "materialised");
    EXPECT_GT(run.report["used"]["bytes"].get<double>(),
              0.99 * run.report["budget"]["bytes"].get<double>());
    const Model model = Model::open(run.model());
    EXPECT_EQ(model.summary().serving, "materialised");
    EXPECT_EQ(model.summary().table_bytes, run.report["used"]["bytes"]);
    EXPECT_EQ(run.report["test"], measured(run.model()));
    EXPECT_EQ(run.report["test"], measured(run.path)) << "of the trained values";
    EXPECT_FALSE(run.report.contains("test_fp32"));
  }
}

TEST(ModelFile, TakesNewInteractionsWithoutTraining) {
  const TrainedRun run;
  const Model before = Model::open(run.model());
  const std::string user(before.user_id(0));
  const std::string item(before.recommend(user, 1).at(0).item);
  const std::string data =
      run.folder.write("new.csv", "user,item\nnewbie," + item + "\nnewbie,fresh\n" + user +
                                      ",fresh\n" + user + "," + item + "\n");
  const std::string out = (run.folder / "updated.bet").string();
  const ProgramResult result = run_bet({"update", run.model(), data, "--out", out});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.starts_with(out + ": 4 new interactions (0 were known), 1 new users and 1 "
                                           "new items; "))
      << result.err;
  const Model after = Model::open(out);
  EXPECT_EQ(after.num_users(), before.num_users() + 1);
  EXPECT_EQ(after.summary().table_bytes, before.summary().table_bytes);
  EXPECT_EQ(after.seen_items("newbie").size(), 2U);
  EXPECT_EQ(after.recommend("newbie", 5).size(), 5U);
  EXPECT_GT(after.score(user, "fresh"), 0) << "close to what its users have";
  EXPECT_EQ(run_bet_serve({"verify", out}).exit_code, 0);
  EXPECT_NE(result.err.find("new rows are empty"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("budget 5%: "), std::string::npos) << result.err;
  EXPECT_EQ(run_bet({"update", data, data, "--out", out}).exit_code, 1);
}

TEST(ModelFile, EvaluateNamesAFactOfAnotherType) {
  const TempFolder folder;
  for (const std::string name : {"option.backbone", "dataset.hash"}) {
    ModelToWrite model;  // without users and items
    model.max_dim = 1;
    model.facts = {{name, std::int64_t{5}}, {"option.budget", "5%"}};
    const std::string path = folder.write("odd.bet", encode_model(model)).string();
    const ProgramResult result = run_bet({"evaluate", path, "demo"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err,
              "bet: " + path + ": the fact '" + name + "' has the type integer, not text\n")
        << name;
  }
}

TEST(BetServe, VerifiesServesAndSaysWhatIsWrong) {
  const TrainedRun run;
  const ProgramResult verified = run_bet_serve({"verify", run.model(), "--json"});
  ASSERT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_TRUE(Json::parse(verified.out)["budget"]["kept"]);
  EXPECT_GT(Json::parse(verified.out)["resident_bytes"], 0);
  const ProgramResult broken = run_bet_serve({"verify", run.model(), "--budget", "4%"});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_NE(broken.err.find("breaks the budget"), std::string::npos) << broken.err;

  const ProgramResult answer =
      run_bet_serve({"recommend", run.model(), "--user", "17", "-k", "5", "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.err;
  const Json json = Json::parse(answer.out);
  EXPECT_EQ(json["user"], "17");
  ASSERT_EQ(json["items"].size(), 5U);
  const Model model = Model::open(run.model());
  const auto best = model.recommend("17", 5);
  EXPECT_EQ(json["items"][0]["item"], std::string(best[0].item));
  EXPECT_FLOAT_EQ(json["items"][0]["score"].get<float>(), best[0].score);
  EXPECT_EQ(run_bet_serve({"recommend", run.model(), "--items", "1", "2", "--json"}).exit_code, 0);
  EXPECT_EQ(run_bet_serve({"recommend", run.model(), "--similar-to", "1"}).exit_code, 0);

  const auto error = [&](const std::vector<std::string>& line) {
    const ProgramResult result = run_bet_serve(line);
    EXPECT_EQ(result.exit_code, 1) << result.out;
    return result.err;
  };
  EXPECT_NE(error({"recommend", run.model(), "--user", "nobody"}).find("unknown user 'nobody'"),
            std::string::npos);
  EXPECT_NE(error({"recommend", run.model()}).find("give exactly one of"), std::string::npos);
  EXPECT_NE(error({"inspect", run.path + "/config.toml"}).find("not a bet model file (bad magic)"),
            std::string::npos);
  EXPECT_NE(error({"verify", run.path + "/none.bet"}).find("none.bet: No such file"),
            std::string::npos);
  std::string bytes = read_file(run.model());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const std::string damaged = run.folder.write("damaged.bet", bytes).string();
  EXPECT_NE(error({"verify", damaged}).find("the checksum of"), std::string::npos);
  EXPECT_EQ(run_bet_serve({"serve"}).exit_code, 2);
}

}  // namespace
}  // namespace bet
