// The parameters of a query and of a POST's body.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "serve/arguments.h"
#include "serve/query.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;
using Type = Parameter::Type;

constexpr std::array<Parameter, 6> kDeclared = {{{"user", Type::kText, 0, false, ""},
                                                 {"users", Type::kTexts, 3, false, ""},
                                                 {"items", Type::kTexts, 1'000, false, ""},
                                                 {"k", Type::kInteger, 1'000, false, ""},
                                                 {"least", Type::kNumber, 0, false, ""},
                                                 {"all", Type::kFlag, 0, false, ""}}};
constexpr std::array<Parameter, 1> kNeeded = {{{"item", Type::kText, 0, true, ""}}};

Arguments of_query(std::string_view query) { return Arguments::of_query(query, kDeclared); }
Arguments of_body(std::string_view body) { return Arguments::of_body(body, kDeclared); }

TEST(QueryOfARequest, IsDecodedToAnyBytes) {
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"user", "a b c+&="}, {"k", ""}, {"flag", ""}, {"k2", std::string("\0\xff", 2)}, {"k", "1"}};
  EXPECT_EQ(parse_query("user=a%20b+c%2B%26%3d&k=&flag&&%6b2=%00%fF&k=1"), expected);
  EXPECT_TRUE(parse_query("").empty());
}

TEST(QueryOfARequest, NamesAnInvalidEscape) {
  EXPECT_EQ(error_of([] { parse_query("a=%4"); }), "invalid escape '%4'");
  EXPECT_EQ(error_of([] { parse_query("a=%"); }), "invalid escape '%'");
  EXPECT_EQ(error_of([] { parse_query("a=%g1b"); }), "invalid escape '%g1'");
}

TEST(Arguments, AreReadFromAQuery) {
  const Arguments given = of_query("users=a&user=%ff&k=3&users=b&least=-1.5e2&all=1");
  EXPECT_EQ(given.text("user"), "\xff");
  EXPECT_EQ(given.texts("users"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(given.integer("k"), 3U);
  EXPECT_EQ(given.number("least"), -150.0F);
  EXPECT_TRUE(given.flag("all"));
  EXPECT_FALSE(of_query("all=0").flag("all"));
  const Arguments nothing = of_query("");
  EXPECT_EQ(nothing.text("user"), "");
  EXPECT_TRUE(nothing.texts("users").empty());
  EXPECT_FALSE(nothing.integer("k") || nothing.number("least") || nothing.flag("all"));
  EXPECT_TRUE(given.has("k") && !nothing.has("k"));
}

TEST(Arguments, OfAQueryNameWhatIsWrong) {
  for (const auto& [query, text] : std::vector<std::pair<std::string, std::string>>{
           {"k=1&k=1", "parameter 'k' is given twice"},
           {"K=1", "unknown parameter 'K'"},
           {"k=", "k is '', expected a non-negative integer"},
           {"k=0", "k is 0, not 1 to 1000"},
           {"k=1001", "k is 1001, not 1 to 1000"},
           {"least=x", "least is 'x', expected a number"},
           {"least=inf", "least is inf, expected a finite number"},
           {"least=1e39", "least is 1e+39, expected a finite number"},
           {"all=true", "all is 'true', not 0 or 1"},
           {"users=a&users=b&users=c&users=d", "more than 3 users in one request"}}) {
    EXPECT_EQ(error_of([&query = query] { of_query(query); }), text) << query;
  }
  EXPECT_EQ(error_of([] { Arguments::of_query("", kNeeded); }), "parameter item is missing");
}

TEST(Arguments, AreReadFromJson) {
  const Arguments given = of_body(
      R"( {"k": 3, "users": ["a", "\u00e9\n"], "all": true, "user": "x", "items": [], "least": 2} )");
  EXPECT_EQ(given.texts("users"), (std::vector<std::string>{"a", "\xc3\xa9\n"}));
  EXPECT_TRUE(given.has("items") && given.texts("items").empty());
  EXPECT_EQ(given.integer("k"), 3U);
  EXPECT_EQ(given.text("user"), "x");
  EXPECT_EQ(given.number("least"), 2.0F);
  EXPECT_TRUE(given.flag("all"));
  EXPECT_EQ(of_body(R"({"least": -1})").number("least"), -1.0F);
  EXPECT_EQ(of_body(R"({"least": 0.5})").number("least"), 0.5F);
  EXPECT_FALSE(of_body("{}").has("k"));
}

TEST(Arguments, RefuseEverythingElse) {
  for (const std::string body : {"",
                                 "null",
                                 "1",
                                 "\"a\"",
                                 "[]",
                                 "[\"a\"]",
                                 "{\"users\": \"a\"}",
                                 "{\"users\": [1]}",
                                 "{\"users\": [[\"a\"]]}",
                                 "{\"users\": {\"a\": 1}}",
                                 "{\"users\": [\"a\"], \"users\": [\"a\"]}",
                                 "{\"items\": [], \"items\": []}",
                                 "{\"k\": 0}",
                                 "{\"k\": 1001}",
                                 "{\"k\": -1}",
                                 "{\"k\": 1.5}",
                                 "{\"k\": \"3\"}",
                                 "{\"k\": [3]}",
                                 "{\"k\": null}",
                                 "{\"user\": [\"a\"]}",
                                 "{\"user\": 1}",
                                 "{\"least\": \"1\"}",
                                 "{\"least\": 1e39}",
                                 "{\"least\": 1e999}",
                                 "{\"least\": [1]}",
                                 "{\"users\": [\"a\", null]}",
                                 "{\"users\": [\"a\", true]}",
                                 "{\"users\": [\"a\"]",
                                 "{\"users\": [\"a\"]} x",
                                 "{\"users\": [\"\xff\"]}",
                                 "{\"what\": \"a\"}",
                                 "{\"all\": 1}"}) {
    EXPECT_NE(error_of([&] { of_body(body); }), "") << body;
  }
  EXPECT_NE(error_of([] { of_body(std::string(1'000'000, '[')); }), "");
}

TEST(Arguments, OfABodyNameWhatIsWrong) {
  const auto list = [](std::size_t count) {
    std::string body = "{\"items\": [\"a\"";
    for (std::size_t i = 1; i < count; ++i) body += ",\"a\"";
    return body + "]}";
  };
  EXPECT_EQ(of_body(list(1'000)).texts("items").size(), 1'000U);
  EXPECT_EQ(error_of([&] { of_body(list(1'001)); }), "more than 1000 items in one request");
  EXPECT_EQ(error_of([] { of_body("{\"k\": 1001}"); }), "k is 1001, not 1 to 1000");
  EXPECT_EQ(error_of([] { of_body("{\"k\": 1.5}"); }),
            "the body: unexpected 1.5 for k; expected an integer");
  EXPECT_EQ(
      error_of([] { of_body("[]"); }),
      "the body: unexpected a list; expected an object with user, users, items, k, least, all");
  EXPECT_EQ(error_of([] { of_body("{\"what\": 1}"); }),
            "unknown key 'what'; there are user, users, items, k, least, all");
  EXPECT_EQ(error_of([] { of_body("{\"k\": 1, \"k\": 1}"); }), "key 'k' is given twice");
  EXPECT_EQ(error_of([] { Arguments::of_body("{}", kNeeded); }), "the body: item is missing");
}

}  // namespace
}  // namespace bet
