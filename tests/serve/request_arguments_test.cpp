// The parameters of a query and of a POST's body.
#include <gtest/gtest.h>

#include <string>

#include "serve/batch_request.h"
#include "serve/query.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;

TEST(QueryOfARequest, IsDecodedToAnyBytes) {
  const QueryParameters query = parse_query("user=a%20b+c%2B%26%3d&k=&flag&&%6b2=%00%fF");
  EXPECT_EQ(query.size(), 4);
  EXPECT_EQ(query.at("user"), "a b c+&=");
  EXPECT_EQ(query.at("k"), "");
  EXPECT_EQ(query.at("flag"), "");
  EXPECT_EQ(query.at("k2"), std::string("\0\xff", 2));
  EXPECT_TRUE(parse_query("").empty());
}

TEST(QueryOfARequest, NamesWhatIsWrong) {
  EXPECT_EQ(error_of([] { parse_query("a=%4"); }), "invalid escape '%4'");
  EXPECT_EQ(error_of([] { parse_query("a=%"); }), "invalid escape '%'");
  EXPECT_EQ(error_of([] { parse_query("a=%g1b"); }), "invalid escape '%g1'");
  EXPECT_EQ(error_of([] { parse_query("k=1&k=1"); }), "parameter 'k' is given twice");
}

TEST(BatchRequest, IsReadFromJson) {
  const BatchRequest users =
      parse_batch_request(R"( {"k": 3, "users": ["a", "\u00e9\n"], "with_seen": true} )");
  EXPECT_EQ(users.users, (std::vector<std::string>{"a", "\xc3\xa9\n"}));
  EXPECT_TRUE(users.items.empty());
  EXPECT_EQ(users.k, 3);
  EXPECT_TRUE(users.with_seen);
  const BatchRequest items = parse_batch_request(R"({"items": ["x"]})");
  EXPECT_EQ(items.items, std::vector<std::string>{"x"});
  EXPECT_EQ(items.k, 10);
  EXPECT_FALSE(items.with_seen);
}

TEST(BatchRequest, RefusesEverythingElse) {
  for (const std::string body : {"",
                                 "null",
                                 "1",
                                 "\"a\"",
                                 "[]",
                                 "{}",
                                 "[\"a\"]",
                                 "{\"users\": []}",
                                 "{\"users\": \"a\"}",
                                 "{\"users\": [1]}",
                                 "{\"users\": [[\"a\"]]}",
                                 "{\"users\": {\"a\": 1}}",
                                 "{\"k\": 3}",
                                 "{\"users\": [\"a\"], \"items\": [\"b\"]}",
                                 "{\"users\": [\"a\"], \"users\": [\"a\"]}",
                                 "{\"users\": [\"a\"], \"k\": 0}",
                                 "{\"users\": [\"a\"], \"k\": 1001}",
                                 "{\"users\": [\"a\"], \"k\": -1}",
                                 "{\"users\": [\"a\"], \"k\": 1.5}",
                                 "{\"users\": [\"a\"], \"k\": \"3\"}",
                                 "{\"users\": [\"a\"], \"k\": [3]}",
                                 "{\"users\": [\"a\", null]}",
                                 "{\"users\": [\"a\", true]}",
                                 "{\"users\": [\"a\"]",
                                 "{\"users\": [\"a\"]} x",
                                 "{\"users\": [\"\xff\"]}",
                                 "{\"user\": \"a\"}",
                                 "{\"items\": [\"a\"], \"with_seen\": true}",
                                 "{\"users\": [\"a\"], \"with_seen\": 1}"}) {
    EXPECT_NE(error_of([&] { parse_batch_request(body); }), "") << body;
  }
  EXPECT_NE(error_of([] { parse_batch_request(std::string(1'000'000, '[')); }), "");
}

TEST(BatchRequest, NamesItsLimits) {
  const auto list = [](const std::string& key, std::size_t count) {
    std::string body = "{\"" + key + "\": [\"a\"";
    for (std::size_t i = 1; i < count; ++i) body += ",\"a\"";
    return body + "]}";
  };
  EXPECT_EQ(parse_batch_request(list("users", BatchRequest::kMaxUsers)).users.size(), 100);
  EXPECT_EQ(parse_batch_request(list("items", BatchRequest::kMaxItems)).items.size(), 1000);
  EXPECT_EQ(error_of([&] { parse_batch_request(list("users", BatchRequest::kMaxUsers + 1)); }),
            "more than 100 users in one request");
  EXPECT_EQ(error_of([&] { parse_batch_request(list("items", BatchRequest::kMaxItems + 1)); }),
            "more than 1000 items in one request");
  EXPECT_EQ(error_of([] { parse_batch_request("{\"k\": 1001}"); }), "k is 1001, not 1 to 1000");
  EXPECT_EQ(error_of([] { parse_batch_request("{\"user\": 1}"); }),
            "unknown key 'user'; there are users, items, k and with_seen");
}

}  // namespace
}  // namespace bet
