#include "serve/handlers.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <sstream>
#include <string>

#include "serve/answer.h"
#include "serve/model_json.h"
#include "serve/page.h"
#include "serve/served_toy.h"

namespace bet {
namespace {

using test::ServedToy;
using Json = nlohmann::ordered_json;

std::string line(const Json& json) { return json_text(json) + "\n"; }

void expect_error(const HttpResponse& response, int status, const std::string& text) {
  EXPECT_EQ(response.status, status);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, line({{"error", text}}));
}

TEST(Handlers, RecommendForAUser) {
  const ServedToy toy;
  const std::string user(toy.model().user_id(2));
  const HttpResponse response = toy.get("/recommend", "k=3&user=" + user);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.route, "/recommend");
  EXPECT_EQ(response.body, line(user_answer(toy.model(), user, 3, Model::Seen::kLeaveOut)));
  const HttpResponse all = toy.get("/recommend", "k=1000&with_seen=1&user=" + user);
  EXPECT_EQ(Json::parse(all.body)["items"].size(), toy.model().num_items());
  EXPECT_EQ(all.body, line(user_answer(toy.model(), user, 1000, Model::Seen::kKeep)));
  EXPECT_EQ(toy.get("/recommend", "user=" + user).body,
            line(user_answer(toy.model(), user, 10, Model::Seen::kLeaveOut)));
}

TEST(Handlers, IdsAreAnyBytes) {
  const ServedToy toy;
  EXPECT_EQ(Json::parse(toy.get("/recommend", "user=zo%C3%AB+%26%2B%25").body)["user"],
            "zo\xc3\xab &+%");
  const HttpResponse bytes = toy.get("/recommend", "user=%ff%01");
  EXPECT_EQ(bytes.status, 200);
  EXPECT_EQ(Json::parse(bytes.body)["user"], "\xef\xbf\xbd\x01") << "U+FFFD for what is no UTF-8";
}

TEST(Handlers, RecommendForManyUsers) {
  const ServedToy toy;
  const std::string first(toy.model().user_id(2));
  const std::string second(toy.model().user_id(3));
  const HttpResponse response =
      toy.ask("POST", "/recommend", "", line({{"users", {first, second}}, {"k", 2}}));
  EXPECT_EQ(response.status, 200);
  const Json one = user_answer(toy.model(), first, 2, Model::Seen::kLeaveOut);
  const Json two = user_answer(toy.model(), second, 2, Model::Seen::kLeaveOut);
  EXPECT_EQ(response.body, line({{"answers", {one, two}}}));
}

TEST(Handlers, AnUnknownUserOfABatchLeavesTheOthersTheirAnswers) {
  const ServedToy toy;
  const std::string first(toy.model().user_id(2));
  const std::string last(toy.model().user_id(3));
  const HttpResponse response =
      toy.ask("POST", "/recommend", "", line({{"users", {first, "nobody", last}}, {"k", 2}}));
  EXPECT_EQ(response.status, 200);
  const Json answers = {user_answer(toy.model(), first, 2, Model::Seen::kLeaveOut),
                        {{"user", "nobody"}, {"error", "unknown user 'nobody'"}},
                        user_answer(toy.model(), last, 2, Model::Seen::kLeaveOut)};
  EXPECT_EQ(response.body, line({{"answers", answers}}));
}

TEST(Handlers, ABatchEndsWhenItsTimeIsUp) {
  const ServedToy toy;
  HttpRequest request;
  request.method = "POST";
  request.path = "/recommend";
  request.body = line({{"users", {std::string(toy.model().user_id(2))}}});
  request.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  expect_error(toy.handlers().answer(request), 503, "no time left after 0 of 1 users");
}

TEST(Handlers, RecommendForItemsAndSimilarItems) {
  const ServedToy toy;
  const std::string item(toy.model().item_id(1));
  const std::string other(toy.model().item_id(4));
  EXPECT_EQ(toy.ask("POST", "/recommend", "", line({{"items", {item, other}}, {"k", 4}})).body,
            line(items_answer(toy.model(), {item, other}, 4)));
  EXPECT_FALSE(items_answer(toy.model(), {item, other}, 4).contains("unknown"));
  expect_error(toy.ask("POST", "/recommend", "", line({{"items", {"nothing"}}})), 404,
               "unknown item 'nothing'");
  expect_error(toy.ask("POST", "/recommend", "", line({{"items", {"nothing", "no"}}})), 404,
               "unknown items 'nothing', 'no'");
  const std::string escaped = "item=item%20" + item.substr(5);
  EXPECT_EQ(toy.get("/similar", escaped + "&k=4").body, line(similar_answer(toy.model(), item, 4)));
  expect_error(toy.get("/similar", "item=nothing"), 404, "unknown item 'nothing'");
  expect_error(toy.get("/similar", ""), 400, "parameter item is missing");
}

TEST(Handlers, UnknownItemsAreNamedAndLeftOut) {
  const ServedToy toy;
  const std::string item(toy.model().item_id(1));
  const HttpResponse response =
      toy.ask("POST", "/recommend", "", line({{"items", {"what", item, "no"}}, {"k", 4}}));
  EXPECT_EQ(response.status, 200);
  Json expected = items_answer(toy.model(), {item}, 4);
  expected["given"] = {"what", item, "no"};
  expected["unknown"] = {"what", "no"};
  EXPECT_EQ(response.body, line(expected));
}

TEST(Handlers, SeenItemsAreThoseOfTheFile) {
  const ServedToy toy;
  std::string user;
  for (std::uint32_t row = 0; row < toy.model().num_users(); ++row) {
    const std::string_view other = toy.model().user_id(row);
    if (other.starts_with('u') && !toy.model().seen_items(other).empty()) user = other;
  }
  const Json seen = Json::parse(toy.get("/seen", "user=" + user).body);
  EXPECT_EQ(seen["user"], user);
  std::vector<std::string> expected;
  for (const std::string_view item : toy.model().seen_items(user)) expected.emplace_back(item);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(seen["items"], Json(expected));
  expect_error(toy.get("/seen", "user=nobody"), 404, "unknown user 'nobody'");
}

TEST(Handlers, UsersByPrefix) {
  const ServedToy toy;
  const Json some = Json::parse(toy.get("/users", "prefix=u&limit=2").body);
  std::vector<std::string> expected;
  for (std::uint32_t row = 0; row < toy.model().num_users(); ++row) {
    const std::string_view user = toy.model().user_id(row);
    if (user.starts_with('u')) expected.emplace_back(user);
  }
  EXPECT_EQ(some["total"], expected.size());
  EXPECT_EQ(some["users"], Json({expected[0], expected[1]}));
  const Json all = Json::parse(toy.get("/users").body);
  EXPECT_EQ(all["total"], toy.model().num_users());
  EXPECT_EQ(all["users"].size(), toy.model().num_users());
  EXPECT_EQ(Json::parse(toy.get("/users", "prefix=nobody").body)["total"], 0);
  expect_error(toy.get("/users", "limit=1001"), 400, "limit is 1001, not 1 to 1000");
  expect_error(toy.get("/users", "limit=0"), 400, "limit is 0, not 1 to 1000");
}

TEST(Handlers, ModelHealthAndPage) {
  const ServedToy toy;
  EXPECT_EQ(toy.get("/model").body, line(model_json(toy.model())));
  EXPECT_EQ(toy.get("/healthz").body, "{\"status\":\"ok\"}\n");
  const HttpResponse page = toy.get("/", "user=1");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page.body, page_html());
  EXPECT_TRUE(page.body.starts_with("<!") && page.body.find("</html>") != std::string::npos);
  EXPECT_NE(page.headers.find("Content-Security-Policy: default-src 'none'; script-src 'sha256-"),
            std::string::npos);
}

TEST(Handlers, NameWhatIsWrong) {
  const ServedToy toy;
  expect_error(toy.get("/recommend"), 400, "parameter user is missing");
  expect_error(toy.get("/recommend", "user=nobody"), 404, "unknown user 'nobody'");
  expect_error(toy.get("/recommend", "user=%x"), 400, "invalid escape '%x'");
  expect_error(toy.get("/recommend", "user=a&user=a"), 400, "parameter 'user' is given twice");
  expect_error(toy.get("/recommend", "user=a&K=1"), 400, "unknown parameter 'K'");
  expect_error(toy.get("/recommend", "user=a&k=0"), 400, "k is 0, not 1 to 1000");
  expect_error(toy.get("/recommend", "user=a&k=1001"), 400, "k is 1001, not 1 to 1000");
  expect_error(toy.get("/recommend", "user=a&k=-1"), 400,
               "k is '-1', expected a non-negative integer");
  expect_error(toy.get("/recommend", "user=a&k=1x"), 400,
               "k is '1x', expected a non-negative integer");
  expect_error(toy.get("/recommend", "user=a&k="), 400, "k is '', expected a non-negative integer");
  expect_error(toy.get("/recommend", "user=a&with_seen=2"), 400, "with_seen is 2, not 0 or 1");
  expect_error(
      toy.get("/Recommend"), 404,
      "unknown path '/Recommend'; known paths: / /recommend /similar /seen /users /model /healthz "
      "/metrics");
  expect_error(toy.ask("POST", "/recommend", "", "{"), 400,
               "the body is not valid JSON: error at byte 2");
}

TEST(Handlers, TheKindOfAnErrorDecidesTheStatus) {
  Metrics metrics;
  const auto status_of = [&](ErrorKind kind) {
    const Handlers handlers(
        [&]() -> std::shared_ptr<const Model> { throw Error("a reason", kind); }, metrics);
    HttpRequest request;
    request.method = "GET";
    request.path = "/model";
    return handlers.answer(request).status;
  };
  EXPECT_EQ(status_of(ErrorKind::kBadInput), 400);
  EXPECT_EQ(status_of(ErrorKind::kBudget), 400);
  EXPECT_EQ(status_of(ErrorKind::kNotFound), 404);
  EXPECT_EQ(status_of(ErrorKind::kInternal), 500);
}

TEST(Handlers, EachRouteKnowsItsMethods) {
  const ServedToy toy;
  for (const char* const path :
       {"/", "/recommend", "/similar", "/seen", "/users", "/model", "/healthz", "/metrics"}) {
    const bool takes_post = std::string(path) == "/recommend";
    const HttpResponse response = toy.ask("DELETE", path, "");
    EXPECT_EQ(response.status, 405) << path;
    EXPECT_EQ(response.headers, takes_post ? "Allow: GET, HEAD, POST\r\n" : "Allow: GET, HEAD\r\n");
    EXPECT_EQ(toy.ask("POST", path, "").status, takes_post ? 400 : 405) << path;
    EXPECT_EQ(toy.ask("HEAD", path, "").status, toy.get(path).status) << path;
    EXPECT_EQ(response.route, path);
  }
}

TEST(Handlers, OnlyTheModelsWorkIsForWorkers) {
  const ServedToy toy;
  const auto is_quick = [&](const std::string& path) {
    HttpRequest request;
    request.path = path;
    return toy.handlers().is_quick(request);
  };
  for (const char* const path : {"/", "/healthz", "/metrics", "/nothing"}) {
    EXPECT_TRUE(is_quick(path)) << path;
  }
  for (const char* const path : {"/recommend", "/similar", "/seen", "/users", "/model"}) {
    EXPECT_FALSE(is_quick(path)) << path;
  }
}

TEST(HttpMetrics, AreWellFormedAndCount) {
  ServedToy toy;
  toy.metrics().count_request("/recommend", 200, 0.002);
  toy.metrics().count_request("/recommend", 200, 100);
  toy.metrics().count_request("/recommend", 404, 0.0005);
  toy.metrics().count_reload(true);
  toy.metrics().count_reload(false);
  toy.metrics().count_reload(false);
  const HttpResponse response = toy.get("/metrics");
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  const std::string& text = response.body;
  for (const std::string expected :
       {"bet_http_requests_total{route=\"/recommend\",code=\"200\"} 2\n",
        "bet_http_requests_total{route=\"/recommend\",code=\"404\"} 1\n",
        "bet_http_request_seconds_bucket{route=\"/recommend\",le=\"0.0005\"} 1\n",
        "bet_http_request_seconds_bucket{route=\"/recommend\",le=\"0.001\"} 1\n",
        "bet_http_request_seconds_bucket{route=\"/recommend\",le=\"0.0025\"} 2\n",
        "bet_http_request_seconds_bucket{route=\"/recommend\",le=\"5\"} 2\n",
        "bet_http_request_seconds_bucket{route=\"/recommend\",le=\"+Inf\"} 3\n",
        "bet_http_request_seconds_sum{route=\"/recommend\"} 100.002500\n",
        "bet_http_request_seconds_count{route=\"/recommend\"} 3\n",
        "bet_model_reloads_total{result=\"good\"} 1\n",
        "bet_model_reloads_total{result=\"bad\"} 2\n", "bet_build_info{version=\""}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "in\n" << text;
  }
  EXPECT_NE(
      text.find("bet_model_file_bytes " + std::to_string(toy.model().summary().file_bytes) + "\n"),
      std::string::npos);
  // POSIX's: GCC 12 warns of its own <regex> under the sanitizers.
  regex_t good;
  ASSERT_EQ(::regcomp(&good,
                      "^(# (HELP|TYPE) [a-z_]+ .+|"
                      "[a-z_]+([{][a-z_]+=\"[^\"]*\"(,[a-z]+=\"[^\"]*\")*[}])? [0-9.]+)$",
                      REG_EXTENDED | REG_NOSUB),
            0);
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) {
    EXPECT_EQ(::regexec(&good, one.c_str(), 0, nullptr, 0), 0) << one;
  }
  ::regfree(&good);
}

}  // namespace
}  // namespace bet
