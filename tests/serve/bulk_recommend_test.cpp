#include "serve/bulk_recommend.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>

#include "runtime/toy_model.h"
#include "serve/answer.h"
#include "support/expect_error.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;

constexpr std::uint32_t kUsers = 150;  // more than one window of users of 10,000 items each

class BulkRecommend : public testing::Test {
 protected:
  BulkRecommend() {
    test::ToyOptions options = test::toy_graph(2);
    options.users = kUsers;
    test::ToyModel toy(options);
    toy.model.users.ids[0] = "a \"quoted\", user\n";
    toy.model.users.ids[1] = "\xff\x01";
    path_ = folder_.write("m.bet", toy.encode());
    served_.model = std::make_shared<const Model>(Model::open(path_));
    bulk_.answer.k = 3;
  }

  const Model& model() const { return *served_.model; }
  // The file that these options make.
  std::string written(const std::string& name) {
    bulk_.out = (folder_ / name).string();
    result_ = recommend_in_bulk(served_, bulk_);
    return test::read_file(bulk_.out);
  }
  std::string json_lines(std::uint32_t from, std::uint32_t to) const {
    std::string lines;
    for (std::uint32_t row = from; row < to; ++row) {
      lines +=
          json_text(user_answer(model(), std::string(model().user_id(row)), bulk_.answer.k)) + "\n";
    }
    return lines;
  }

  test::TempFolder folder_;
  std::string path_;
  ModelWithLists served_;
  BulkOptions bulk_;
  BulkResult result_;
};

TEST_F(BulkRecommend, AnswersAreThoseOfEachUserAloneInTheOrderOfTheFile) {
  for (const std::size_t k : {3U, 10'000U}) {
    bulk_.answer.k = k;
    EXPECT_EQ(written("top.jsonl"), json_lines(0, kUsers));
    EXPECT_EQ(result_.users, kUsers);
    EXPECT_EQ(result_.unknown, 0U);
  }
}

TEST_F(BulkRecommend, RangesAddUpToTheWhole) {
  const std::string whole = json_lines(0, kUsers);
  std::string parts;
  for (const std::size_t from : {0U, 70U, 140U}) {
    bulk_.from = from;
    bulk_.to = from + 70;  // the last range is shorter
    parts += written("part.jsonl");
  }
  EXPECT_EQ(parts, whole);
  bulk_.from = kUsers;
  EXPECT_EQ(written("none.jsonl"), "");
  bulk_.from = kUsers + 1;
  EXPECT_EQ(error_of([&] { written("none.jsonl"); }), "users from 151 to 150: there are 150");
}

TEST_F(BulkRecommend, CsvHasALineForEachItemAndQuotesIds) {
  std::uint32_t quoted = 0;
  while (!model().user_id(quoted).starts_with("a ")) ++quoted;
  bulk_.from = quoted;
  bulk_.to = quoted + 1;
  bulk_.answer.k = 2;
  const auto items = model().recommend(model().user_id(quoted), 2);
  ASSERT_EQ(items.size(), 2U);
  const std::string text = written("top.csv");
  const std::string user = "\"a \"\"quoted\"\", user\n\",";
  EXPECT_TRUE(
      text.starts_with("user,rank,item,score\n" + user + "1," + std::string(items[0].item) + ","))
      << text;
  const std::size_t last = text.rfind(user + "2," + std::string(items[1].item) + ",");
  ASSERT_NE(last, std::string::npos) << text;
  EXPECT_EQ(std::stof(text.substr(text.rfind(',') + 1)), items[1].score) << "every digit";
}

TEST_F(BulkRecommend, CompressedFilesHoldTheSame) {
  const std::string packed = written("top.jsonl.zst");
  std::string text(1'000'000, ' ');
  const std::size_t size = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  ASSERT_FALSE(ZSTD_isError(size)) << ZSTD_getErrorName(size);
  text.resize(size);
  EXPECT_EQ(text, json_lines(0, kUsers));
}

TEST_F(BulkRecommend, UsersOfAListAndUnknownOnes) {
  const std::string known(model().user_id(3));
  bulk_.users_file = folder_.write("users", known + "\nnobody\n" + known + "\n");
  const std::string one = json_lines(3, 4);
  const auto line = [](const nlohmann::ordered_json& json) { return json_text(json) + "\n"; };
  EXPECT_EQ(written("top.jsonl"), one + line(batch_entry(model(), "nobody", 3)) + one);
  EXPECT_EQ(result_.users, 3U);
  EXPECT_EQ(result_.unknown, 1U);
  EXPECT_EQ(written("top.csv").find("nobody"), std::string::npos);
  bulk_.from = 1;
  bulk_.to = 2;
  bulk_.answer.missing = Missing::kPopular;
  EXPECT_EQ(written("top.jsonl"), line(user_answer(model(), "nobody", 3, {}, Missing::kPopular)));
  const auto popular = model().popular_items(3);
  EXPECT_TRUE(written("top.csv").starts_with("user,rank,item,score\nnobody,1," +
                                             std::string(popular[0].item) + ","));
}

TEST_F(BulkRecommend, FiltersHoldForEveryUser) {
  const std::string_view ids[] = {model().item_id(0), model().item_id(5)};
  bulk_.answer.only = std::vector<std::string>(std::begin(ids), std::end(ids));
  bulk_.answer.include_seen = true;
  bulk_.to = 20;
  const ItemSet set = model().item_set(ids);
  std::string expected;
  for (std::uint32_t row = 0; row < 20; ++row) {
    const ItemFilter filter{.only = &set, .seen = Seen::kKeep};
    expected +=
        json_text(user_answer(model(), std::string(model().user_id(row)), 3, filter)) + "\n";
  }
  EXPECT_EQ(written("top.jsonl"), expected);
}

TEST_F(BulkRecommend, AFileAppearsOnlyWhenItIsComplete) {
  const std::string path = folder_.write("top.csv", "before");
  bulk_.users_file = "/no/such/file";
  EXPECT_EQ(error_of([&] { written("top.csv"); }), "/no/such/file: No such file or directory");
  EXPECT_EQ(test::read_file(path), "before");
  bulk_.users_file.clear();
  EXPECT_EQ(error_of([&] { written("top.txt"); }),
            (folder_ / "top.txt").string() +
                ": expected a name that ends with .csv or .jsonl, or with .zst after it");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "top.txt"));
}

TEST_F(BulkRecommend, IsACommand) {
  const std::string out = (folder_ / "top.jsonl").string();
  const auto run = [&](std::vector<std::string> line) {
    line.insert(line.begin(), {"recommend", path_, "-k", "3"});
    return test::run_bet_serve(line);
  };
  EXPECT_EQ(run({"--all", "--out", out, "--from", "10", "--to", "30"}).exit_code, 0);
  EXPECT_EQ(test::read_file(out), json_lines(10, 30));
  const std::string users = folder_.write("users", std::string(model().user_id(3)) + "\nnobody\n");
  const auto some = run({"--users", users, "--out", out, "--missing", "popular"});
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_EQ(some.err, "bet-serve: 1 of 2 users are unknown\n");
  EXPECT_TRUE(test::read_file(out).starts_with(json_lines(3, 4)));
  EXPECT_EQ(run({"--all"}).err,
            "bet-serve: --out FILE goes with --all and --users, and they with it\n");
  EXPECT_EQ(run({"--user", "u", "--out", out}).exit_code, 1);
  EXPECT_EQ(run({"--user", "u", "--to", "3"}).err,
            "bet-serve: --from, --to and --threads go with --all and --users\n");
  EXPECT_EQ(run({"--all", "--user", "u", "--out", out}).err,
            "bet-serve: give exactly one of --user, --items, --similar-to, --all and --users\n");
}

}  // namespace
}  // namespace bet
