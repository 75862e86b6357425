#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/load.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;

Dataset load_text(const std::string& text, const ReadOptions& options = {}) {
  const TempFolder folder;
  return load_dataset(folder.write("a.csv", text), options);
}

std::string error_of_text(const std::string& text, const ReadOptions& options = {}) {
  return error_of([&] { load_text(text, options); });
}

void expect_in(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in: " << error;
  }
}

struct HeaderLine {
  std::string text;  // the header, three interactions of three users and two items below it
  std::string columns;

  friend std::ostream& operator<<(std::ostream& out, const HeaderLine& line) {
    return out << line.text.substr(0, line.text.find('\n'));
  }
};

class KnownHeader : public testing::TestWithParam<HeaderLine> {};

TEST_P(KnownHeader, IsNeitherUserNorItem) {
  const Dataset dataset = load_text(GetParam().text);
  EXPECT_EQ(dataset.num_interactions(), 3U);
  EXPECT_EQ(dataset.num_users(), 3U);
  EXPECT_EQ(dataset.num_items(), 2U);
  EXPECT_TRUE(dataset.header);
  EXPECT_EQ(dataset.columns, GetParam().columns);
}

INSTANTIATE_TEST_SUITE_P(
    Headers, KnownHeader,
    testing::Values(
        HeaderLine{"user_id,book\nann,Dune\nbob,Emma\ncid,Dune\n",
                   "user = column 1 'user_id', item = column 2 'book', header"},
        HeaderLine{"reader,book_id\nann,Dune\nbob,Emma\ncid,Dune\n",
                   "user = column 1 'reader', item = column 2 'book_id', header"},
        HeaderLine{"customer\tproduct\nann\tDune\nbob\tEmma\ncid\tDune\n",
                   "user = column 1 'customer', item = column 2 'product', header"},
        HeaderLine{"StockCode;Quantity;InvoiceDate;CustomerID\nA1;6;x;17\nB2;1;x;18\nA1;1;x;19\n",
                   "user = column 4 'CustomerID', item = column 1 'StockCode', "
                   "rating = column 2 'Quantity', time = column 3 'InvoiceDate', header"},
        // One known name leaves one column for the other role.
        HeaderLine{"user_id,libro\nann,Dune\nbob,Emma\ncid,Dune\n",
                   "user = column 1 'user_id', item = column 2 'libro', header"},
        HeaderLine{"stars,lector,film\n5,ann,Dune\n4,bob,Emma\n3,cid,Dune\n",
                   "user = column 2 'lector', item = column 3 'film', rating = column 1 'stars', "
                   "header"},
        // The index column of a data frame has no name.
        HeaderLine{",user,item\n0,1,8\n1,2,9\n2,3,8\n",
                   "user = column 2 'user', item = column 3 'item', header"},
        HeaderLine{"user_id,user_name,title,asin\n1,ann,x,8\n2,bob,y,9\n3,cid,x,8\n",
                   "user = column 1 'user_id', item = column 4 'asin', header"}));

TEST(Header, ALineWhoseValuesOccurAgainIsData) {
  for (const char* text : {"alice,matrix\nbob,dune\nalice,emma\n",  // the user
                           "alice,matrix\nbob,dune\ncid,matrix\n",  // the item
                           "alice,book\nbob,dune\nalice,emma\n",    // a common name by chance
                           "alice,matrix\nalice,matrix\nbob,emma\n",
                           "alice,matrix,web\nbob,dune,web\ncid,emma,app\n"}) {
    const Dataset dataset = load_text(text);
    EXPECT_FALSE(dataset.header) << text;
    EXPECT_TRUE(dataset.users.find("alice").has_value()) << text;
    EXPECT_EQ(dataset.columns, "user = column 1, item = column 2, no header");
  }
}

// `count` lines with as many users and items.
std::string other_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "user" + std::to_string(i) + ",item" + std::to_string(i) + "\n";
  }
  return text;
}

TEST(Header, LinesFarBelowDecideToo) {
  const std::string lines = "alice,matrix\n" + other_lines(20'000);
  EXPECT_EQ(load_text(lines + "alice,dune\n").num_interactions(), 20'002U);
  EXPECT_EQ(load_text(lines + "bob,matrix\n").num_interactions(), 20'002U);
  EXPECT_EQ(load_text(lines + "alice,matrix\n").duplicates, 1U);
  expect_in(error_of_text(lines), {"a.csv:1: ", "alice, matrix", "is a header", "--no-header",
                                   "--user-col 'alice' --item-col 'matrix'"});
}

TEST(Header, AUsualNameThatIsAnIdFarBelowIsRefused) {
  const std::string lines = "alice,book\n" + other_lines(200);
  EXPECT_TRUE(load_text(lines).header);
  expect_in(error_of_text(lines + "bob,book\n"),
            {"a.csv:1: ", "'book' occurs again", "--no-header", "--item-col 'book'"});
  ReadOptions options;
  options.hints.no_header = true;
  EXPECT_EQ(load_text(lines + "bob,book\n", options).num_interactions(), 202U);
  options = {};
  options.hints.user_col = "alice";
  EXPECT_EQ(load_text(lines + "bob,book\n", options).num_interactions(), 201U);
}

TEST(Header, IsRefusedWhereItComesAgain) {
  const std::string part = "user_id,book\nann,Dune\nbob,Emma\n";
  expect_in(error_of_text(part + part), {"a.csv:1: ", "occurs again", "--no-header"});
  expect_in(error_of_text("guest,beer\nguest,ale\n"), {"a.csv:1: ", "'guest'", "--no-header"});
}

TEST(Header, AFirstLineInDoubtIsTakenAsToldTo) {
  const std::string text = "alice,matrix\nbob,dune\n";
  expect_in(error_of_text(text), {"cannot tell whether", "alice, matrix", "--no-header"});
  ReadOptions options;
  options.hints.no_header = true;
  EXPECT_EQ(load_text(text, options).num_interactions(), 2U);
  EXPECT_EQ(load_text("user,item\nbob,dune\n", options).num_interactions(), 2U);
  options = {};
  options.hints.user_col = "matrix";
  const Dataset named = load_text(text, options);
  EXPECT_EQ(named.columns, "user = column 2 'matrix', item = column 1 'alice', header");
  EXPECT_EQ(named.users.name(0), "dune");
}

TEST(Header, NumbersAreNoNames) {
  for (const char* text : {"1,2\n", "7,x\nann,y\n", "ann,2024-03-01\nbob,2024-03-02\n"}) {
    EXPECT_FALSE(load_text(text).header) << text;
  }
  expect_in(error_of_text("user_id,17\nann,18\n"), {"cannot tell whether", "--no-header"});
}

TEST(Header, UnknownNamesAboveNumbersAreNotTakenForIds) {
  expect_in(error_of_text("cliente,libro,nota\n1,2,3\n4,5,6\n"),
            {"a.csv:1: ", "the columns are cliente, libro, nota", "--user-col", "--item-col",
             "--no-header"});
}

TEST(Header, AnotherFileOfTheFolderMayDecide) {
  const TempFolder folder;
  folder.write("d/train.txt", "ann,dune\nbob,dune\n");
  folder.write("d/test.txt", "bob,emma\n");
  ReadOptions options;
  options.hints.format = "csv";
  const Dataset dataset = load_dataset(folder / "d", options);
  EXPECT_EQ(dataset.num_interactions(), 3U);
  EXPECT_TRUE(dataset.has_test_part);
  folder.write("d/test.txt", "cid,emma\n");
  expect_in(error_of([&] { load_dataset(folder / "d", options); }), {"test.txt:1: cannot tell"});
}

TEST(Columns, AreGivenByNameAndByNumber) {
  const TempFolder folder;
  const auto file = folder.write("a.csv",
                                 "when,who,what,liking\n2024-03-02,ann,x,5\n2024-03-01,ann,y,1\n"
                                 "2024-02-29,bob,x,4\n");
  ReadOptions options;
  options.hints.user_col = "who";
  options.hints.item_col = "what";
  options.hints.rating_col = "liking";
  options.hints.time_col = "when";
  options.min_rating = 2;
  options.with_times = true;
  const Dataset named = load_dataset(file, options);
  EXPECT_EQ(named.columns,
            "user = column 2 'who', item = column 3 'what', rating = column 4 'liking', "
            "time = column 1 'when', header");
  EXPECT_EQ(named.below_min_rating, 1U);
  ASSERT_EQ(named.interactions.times.size(), 2U);
  EXPECT_EQ(named.interactions.times[0], 1'709'337'600.0);
  EXPECT_EQ(named.interactions.times[1], 1'709'164'800.0);
  options.hints.user_col = "2";
  options.hints.item_col = "3";
  options.hints.rating_col = "4";
  options.hints.time_col = "1";
  EXPECT_EQ(load_dataset(file, options).hash(), named.hash());
}

// Numbers are column numbers: they are not matched with the values of a first line that is data.
TEST(Columns, NumbersAreNotTakenForValues) {
  ReadOptions options;
  options.hints.user_col = "1";
  options.hints.item_col = "2";
  const Dataset dataset = load_text("2,1\n2,7\n3,7\n", options);
  EXPECT_EQ(dataset.num_users(), 2U);
  EXPECT_EQ(dataset.users.name(1), "3");
}

TEST(Columns, OneThatIsGivenHasNoOtherRole) {
  ReadOptions options;
  options.hints.rating_col = "4";
  EXPECT_EQ(load_text("1,2,300,5\n1,3,200,4\n", options).columns,
            "user = column 1, item = column 2, rating = column 4, no header");
  options.hints.time_col = "3";
  EXPECT_EQ(load_text("1,2,300,5\n1,3,200,4\n", options).columns,
            "user = column 1, item = column 2, rating = column 4, time = column 3, no header");
  options.hints.time_col = "4";
  expect_in(error_of_text("1,2,300,5\n", options),
            {"--rating-col and --time-col are the same column, number 4"});
}

TEST(Columns, AWrongNameIsAnsweredWithThoseThereAre) {
  const std::string text = "user_id,book,rating\nann,Dune,4\n";
  ReadOptions options;
  options.hints.item_col = "bok";
  expect_in(error_of_text(text, options),
            {"a.csv:1: --item-col: no column 'bok'; the columns are user_id, book, rating"});
  options = {};
  options.hints.time_col = "when";
  expect_in(error_of_text(text, options),
            {"--time-col: no column 'when'; the columns are user_id, "});
  options = {};
  options.hints.rating_col = "4";
  expect_in(error_of_text(text, options),
            {"--rating-col: no column '4'; the columns are user_id, "});
  options.hints.no_header = true;
  options.hints.rating_col = "rating";
  expect_in(error_of_text(text, options),
            {"--rating-col: no column 'rating'; there are columns 1 to 3 and no header"});
}

TEST(Columns, AreNotSilentlyIgnoredWhereThereAreNone) {
  ReadOptions options;
  options.hints.format = "lightgcn";
  options.hints.user_col = "2";
  expect_in(error_of_text("1 2 3\n", options), {"lightgcn has no columns"});
}

TEST(Columns, ADateInTheThirdIsTheTime) {
  ReadOptions options;
  options.with_times = true;
  const Dataset dataset = load_text("1,2,2024-03-01\n1,3,2024-02-29\n", options);
  EXPECT_EQ(dataset.columns, "user = column 1, item = column 2, time = column 3, no header");
  EXPECT_EQ(dataset.interactions.times[0] - dataset.interactions.times[1], 86'400.0);
}

TEST(Times, ThatAreWrongAreNamedWithFileLineAndValue) {
  ReadOptions options;
  options.with_times = true;
  for (const char* wrong :
       {"2023-02-29", "2024-13-01", "yesterday", "2024-03-01T25:00:00", "nan"}) {
    expect_in(
        error_of_text(std::string("user,item,time\n1,2,2024-02-29\n1,3,") + wrong + "\n", options),
        {"a.csv:3: time '" + std::string(wrong) + "' is neither a number nor a date"});
  }
}

}  // namespace
}  // namespace bet
