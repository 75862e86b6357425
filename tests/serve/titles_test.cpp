#include "serve/titles.h"

#include <gtest/gtest.h>

#include "serve/answer_titles.h"
#include "serve/folded_text.h"
#include "serve/item_search.h"
#include "serve/served_toy.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::ServedToy;
using Json = nlohmann::ordered_json;

Titles parse(std::string_view text) { return Titles::parse(text, "t.csv"); }

std::string error_in(std::string_view text) {
  return error_of([&] { parse(text); });
}

TEST(FoldedText, HasSmallLettersWithoutAccents) {
  EXPECT_EQ(folded_text("Amélie ÀÇÑØŁŒß"), "amelie acnoloess");
  EXPECT_EQ(folded_text("ŽŠČŘůž"), "zscruz");
  EXPECT_EQ(folded_text("ΆΑάΣ ЁЯЖ"), "ααασ ёяж") << "Cyrillic io is a letter of its own";
  EXPECT_EQ(folded_text("e\u0301"), "e") << "a combining accent";
  EXPECT_EQ(folded_text("日本 2·x"), "日本 2·x");
  EXPECT_EQ(folded_text("A\xc3"), "a\xc3") << "a character that is cut off";
  EXPECT_EQ(folded_text("\xff\xc3(B"), "\xff\xc3(b");
}

TEST(Titles, AreReadFromCommasAndTabsWithAndWithoutAHeader) {
  for (const std::string_view text :
       {"7,Heat\n8,\"The \"\"Net\"\", part 2\"\n", "7\tHeat\n8\t\"The \"\"Net\"\", part 2\"",
        "movieId,title,genres\r\n7,Heat,Action\r\n8,\"The \"\"Net\"\", part 2\",\r\n",
        "year,Name,item_id\n1995,Heat,7\n\n1995,\"The \"\"Net\"\", part 2\",8\n",
        "\xef\xbb\xbfITEM\ttitle\n7\tHeat\n8\tThe \"Net\", part 2\n"}) {
    const Titles titles = parse(text);
    EXPECT_EQ(titles.size(), 2U) << text;
    EXPECT_EQ(titles.of("7"), "Heat") << text;
    EXPECT_EQ(titles.of("8"), "The \"Net\", part 2") << text;
    EXPECT_EQ(titles.of("9"), "");
    EXPECT_EQ(titles.of(""), "");
  }
  EXPECT_EQ(parse("").size(), 0U);
  EXPECT_EQ(parse("id,title\n").size(), 0U);
}

TEST(Titles, KeepTheFirstOfAnIdAndLeaveOutEmptyOnes) {
  const Titles titles = parse("b,B\na,first\nb,other\nc,\nd,\" \t\"\na,second\n");
  ASSERT_EQ(titles.size(), 2U);
  EXPECT_EQ(titles.item(0), "b");
  EXPECT_EQ(titles.of("b"), "B");
  EXPECT_EQ(titles.of("a"), "first");
  EXPECT_EQ(titles.of("c"), "");
  EXPECT_EQ(parse("x,\"a\nb\x1b[2J\"").of("x"), "a b [2J") << "nothing that moves a terminal";
}

TEST(Titles, NameWhatIsWrongAndWhere) {
  EXPECT_EQ(error_in("1,a\n2\n"), "t.csv:2: has 1 columns; the id and title are columns 1 and 2");
  EXPECT_EQ(error_in("x,name,id\n1,\"a\n\n\",2\n1,2\n"),
            "t.csv:5: has 2 columns; the named ones are columns 3 and 2");
  EXPECT_EQ(error_in("1,a\n2,\"b\n3,c\n"), "t.csv:2: a quote that is not closed");
  EXPECT_EQ(error_in("1,\"a\"b\n"), "t.csv:1: text behind a closing quote");
  EXPECT_EQ(error_in("1,a\n2,\xff\n"), "t.csv:2: the title is not UTF-8");
  EXPECT_EQ(parse("1," + std::string(Titles::kMaxTitleBytes, 'x')).size(), 1U);
  EXPECT_EQ(error_in("1," + std::string(Titles::kMaxTitleBytes + 1, 'x')),
            "t.csv:1: a title of 4097 bytes; at most 4096 are allowed");
  const test::TempFolder folder;
  EXPECT_EQ(error_of([&] { Titles::read(folder / "no.csv"); }),
            (folder / "no.csv").string() + ": No such file or directory");
  EXPECT_EQ(error_of([&] { Titles::read(folder.path()); }),
            folder.path().string() + ": is a folder, expected a file of titles");
  EXPECT_EQ(Titles::read(folder.write("a.csv", "1,one\n")).of("1"), "one");
}

TEST(Titles, StandBesideTheIdsOfAnswers) {
  const Titles titles = parse("a,Alpha\nb,Beta\n");
  const Json entry = {{"item", "a"}, {"score", 1.5}};
  const Json other = {{"item", "x"}, {"score", 1.0}};
  const Json titled = {{"item", "a"}, {"title", "Alpha"}, {"score", 1.5}};
  const auto text = [&](const Json& answer) { return with_titles(answer, &titles).dump(); };
  EXPECT_EQ(text({{"user", "u"}, {"items", {entry, other}}}),
            Json({{"user", "u"}, {"items", {titled, other}}}).dump());
  EXPECT_EQ(
      text({{"answers", {{{"item", "b"}, {"items", {entry}}}, {{"item", "y"}, {"error", "no"}}}}}),
      Json({{"answers",
             {{{"item", "b"}, {"title", "Beta"}, {"items", {titled}}},
              {{"item", "y"}, {"error", "no"}}}}})
          .dump());
  EXPECT_EQ(text({{"user", "a"}, {"items", {"b", "x"}}}),
            R"({"user":"a","items":["b","x"],"titles":["Beta",null]})");
  EXPECT_EQ(text({{"given", {"a", "x"}}, {"items", Json::array()}, {"unknown", {"x"}}}),
            R"({"given":["a","x"],"given_titles":["Alpha",null],"items":[],"unknown":["x"]})");
  const Json plain = {{"given", {"a"}}, {"items", {entry}}};
  EXPECT_EQ(with_titles(plain, nullptr).dump(), plain.dump());
}

std::vector<std::string> found(const ServedToy& toy, const Titles* titles, std::string_view query,
                               std::size_t limit = 100) {
  std::vector<std::string> items;
  for (const std::string_view item : find_items(toy.model(), titles, query, limit).items) {
    items.emplace_back(item);
  }
  return items;
}

TEST(ItemSearch, FindsTitlesTheBestOnesFirst) {
  const ServedToy toy;
  const auto id = [&](std::uint32_t row) { return std::string(toy.model().item_id(row)); };
  const std::string text = id(0) + ",Return of Star Wars\n" + id(1) + ",Mustard warszawa\n" +
                           id(2) + ",\"Stár Wars\"\nno such item,Star Wars\n" + id(3) +
                           ",Wars of a star\n" + id(4) + ",Rocky\n";
  const Titles titles = parse(text);
  EXPECT_EQ(titles.count_known(toy.model()), 5U);
  using Ids = std::vector<std::string>;
  EXPECT_EQ(found(toy, &titles, "STAR  wars"), (Ids{id(0), id(2), id(3), id(1)}))
      << "two blanks begin no title";
  EXPECT_EQ(found(toy, &titles, " star wars "), (Ids{id(2), id(0), id(3), id(1)}));
  EXPECT_EQ(found(toy, &titles, "star wars", 2), (Ids{id(2), id(0)}));
  EXPECT_EQ(find_items(toy.model(), &titles, "star wars", 2).total, 4U);
  EXPECT_EQ(found(toy, &titles, "rock"), Ids{id(4)});
  EXPECT_EQ(found(toy, &titles, "rocky 2"), Ids{});
  EXPECT_EQ(found(toy, &titles, id(4)), Ids{id(4)}) << "an id that no title has";
}

TEST(ItemSearch, FindsIdsByTheirBeginning) {
  const ServedToy toy;
  std::vector<std::string> all;
  for (std::uint32_t row = 0; row < toy.model().num_items(); ++row) {
    all.emplace_back(toy.model().item_id(row));
  }
  const Titles titles = parse(all[1] + ",item of note\n" + all[2] + ",x\n");
  EXPECT_EQ(found(toy, nullptr, ""), all);
  EXPECT_EQ(found(toy, &titles, ""), all);
  EXPECT_EQ(found(toy, nullptr, "item "), all);
  EXPECT_EQ(found(toy, nullptr, "ITEM"), std::vector<std::string>{});
  EXPECT_EQ(find_items(toy.model(), nullptr, "item", 1).total, all.size());
  std::vector<std::string> title_first = all;
  std::rotate(title_first.begin(), title_first.begin() + 1, title_first.begin() + 2);
  EXPECT_EQ(found(toy, &titles, "item"), title_first) << "each once";
}

}  // namespace
}  // namespace bet
