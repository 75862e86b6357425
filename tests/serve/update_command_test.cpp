// `bet-serve update`: what it writes, says and refuses.
#include <gtest/gtest.h>

#include <filesystem>

#include "bet/model.h"
#include "runtime/toy_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::ProgramResult;
using test::run_bet_serve;
using test::TempFolder;
using test::ToyModel;
using test::ToyOptions;

class UpdateProgram : public testing::Test {
 protected:
  std::string write_model(const ToyOptions& options, Facts facts = {}) const {
    ToyModel toy(options);
    toy.model.facts = std::move(facts);
    return folder_.write("m.bet", toy.encode());
  }
  ProgramResult update(const std::string& model, const std::string& csv,
                       std::vector<std::string> more = {}) const {
    std::vector<std::string> line = {"update", model, folder_.write("new.csv", csv), "--out", out_};
    line.insert(line.end(), more.begin(), more.end());
    return run_bet_serve(line);
  }
  static bool says(const ProgramResult& result, const std::string& text) {
    return result.err.find(text) != std::string::npos;
  }

  const TempFolder folder_;
  const std::string out_ = (folder_ / "out.bet").string();
};

TEST_F(UpdateProgram, SaysWhatNewRowsAre) {
  const std::string csv = "user,item\nnewbie,item 0\nnewbie,item 757\n";
  const struct {
    ToyOptions kind;
    const char* text;
  } cases[] = {
      {test::toy_graph(2), "new rows are empty: their vectors come from their neighbours"},
      {ToyOptions(), "new rows are means: of a user, of its items; of an item, of its users"},
      {test::toy_ncf(), "new rows are means: of a user, of the users of its items"}};
  for (const auto& [kind, text] : cases) {
    const ProgramResult result = update(write_model(kind), csv);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(says(result, "1 new users and 0 new items")) << result.err;
    EXPECT_TRUE(says(result, text)) << result.err;
    EXPECT_EQ(Model::open(out_).seen_items("newbie").size(), 2U);
  }
  ToyOptions without;
  without.interactions = false;
  EXPECT_TRUE(
      says(update(write_model(without), csv), "the file has no interactions and gets none"));
}

TEST_F(UpdateProgram, WritesNothingThatBreaksABudget) {
  const std::string csv = "user,item\nnewbie,item 0\n";
  const auto size_of = [](const std::string& path) {
    return std::to_string(std::filesystem::file_size(path));
  };
  // The facts of a budget take room, too: the amount is as long as that of the file.
  std::string model =
      write_model(test::toy_graph(2), {{"budget.requested", "999B"}, {"budget.for", "file"}});
  const std::string full = size_of(model) + "B";
  ASSERT_EQ(full.size(), 4U);
  model = write_model(test::toy_graph(2), {{"budget.requested", full}, {"budget.for", "file"}});
  ASSERT_EQ(size_of(model) + "B", full);
  const ProgramResult refused = update(model, csv);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(says(refused, out_ + ": is not written: it would break its budget " + full))
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(out_));

  // A budget of the table is used up by new rows alone, and by a graph not at all.
  model = write_model(test::toy_graph(2));
  const std::string table = std::to_string(Model::open(model).summary().table_bytes);
  model =
      write_model(test::toy_graph(2), {{"budget.requested", table + "B"}, {"budget.for", "table"}});
  const ProgramResult kept = update(model, csv);
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_TRUE(says(kept, "budget " + table + "B: " + table +
                             " bytes of the rows as stored allowed, " + table + " used: kept"))
      << kept.err;
  model = write_model(ToyOptions());
  const std::string rows = std::to_string(Model::open(model).summary().table_bytes);
  model = write_model(ToyOptions(), {{"budget.requested", rows + "B"}, {"budget.for", "table"}});
  EXPECT_EQ(update(model, csv).exit_code, 1);
}

TEST_F(UpdateProgram, ReplacesAndExpires) {
  const std::string model = write_model(test::toy_graph(2));
  const std::string csv =
      "user,item,time\n"
      "newbie,item 0,2024-01-01\n"
      "newbie,item 757,2024-03-01\n"
      "newbie,item 0,2024-02-29\n"
      "elder,item 0,2023-01-01\n";
  const ProgramResult result = update(model, csv, {"--replace", "--expire", "2024-02-29"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(says(result, "2 interactions from before 2024-02-29 are left out")) << result.err;
  EXPECT_TRUE(says(result, std::to_string(Model::open(model).summary().interactions) + " dropped"))
      << result.err;
  const Model after = Model::open(out_);
  EXPECT_EQ(after.summary().interactions, 2U);
  EXPECT_EQ(after.seen_items("newbie").size(), 2U) << "one of its two times is late enough";
  EXPECT_FALSE(after.has_user("elder"));

  const auto error = [&](const std::string& data, const std::vector<std::string>& more) {
    const ProgramResult bad = update(model, data, more);
    EXPECT_EQ(bad.exit_code, 1);
    return bad.err;
  };
  EXPECT_NE(error(csv, {"--expire", "2024-02-29"}).find("--expire needs --replace"),
            std::string::npos);
  EXPECT_NE(error(csv, {"--replace", "--expire", "soon"}).find("soon"), std::string::npos);
  EXPECT_NE(error("user,item\na,b\n", {"--replace", "--expire", "1"})
                .find("--expire needs a time column"),
            std::string::npos);
  EXPECT_NE(
      error(csv, {"--replace", "--expire", "2025-01-01"}).find("all 4 are from before --expire"),
      std::string::npos);
}

}  // namespace
}  // namespace bet
