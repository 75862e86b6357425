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
  EXPECT_EQ(response.body, line(user_answer(toy.model(), user, 3)));
  const HttpResponse all = toy.get("/recommend", "k=1000&include_seen=1&user=" + user);
  EXPECT_EQ(Json::parse(all.body)["items"].size(), toy.model().num_items());
  EXPECT_EQ(all.body, line(user_answer(toy.model(), user, 1000, {.seen = Seen::kKeep})));
  EXPECT_EQ(toy.get("/recommend", "user=" + user).body, line(user_answer(toy.model(), user, 10)));
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
  const Json one = user_answer(toy.model(), first, 2);
  const Json two = user_answer(toy.model(), second, 2);
  EXPECT_EQ(response.body, line({{"answers", {one, two}}}));
}

TEST(Handlers, AnUnknownUserOfABatchLeavesTheOthersTheirAnswers) {
  const ServedToy toy;
  const std::string first(toy.model().user_id(2));
  const std::string last(toy.model().user_id(3));
  const HttpResponse response =
      toy.ask("POST", "/recommend", "", line({{"users", {first, "nobody", last}}, {"k", 2}}));
  EXPECT_EQ(response.status, 200);
  const Json answers = {user_answer(toy.model(), first, 2),
                        {{"user", "nobody"}, {"error", "unknown user 'nobody'"}},
                        user_answer(toy.model(), last, 2)};
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

TEST(Handlers, AnswersAreFiltered) {
  const ServedToy toy;
  const Model& model = toy.model();
  const std::string user(model.user_id(2));
  const std::string a(model.item_id(1));
  const std::string b(model.item_id(4));
  const std::string_view both[] = {a, b};
  const ItemSet set = model.item_set(both);
  const auto escaped = [](const std::string& item) { return "item%20" + item.substr(5); };
  const auto ids = "=" + escaped(a);

  const std::string only = "&only" + ids + "&only=" + escaped(b) + "&only=what&include_seen=1";
  const Json wanted = user_answer(model, user, 10, {.only = &set, .seen = Seen::kKeep});
  ASSERT_EQ(wanted["items"].size(), 2U);
  EXPECT_EQ(toy.get("/recommend", "user=" + user + only).body, line(wanted));
  EXPECT_EQ(toy.get("/recommend", "user=" + user + "&only_list=both&include_seen=1").body,
            line(wanted));
  const std::string exclude = "&exclude" + ids + "&exclude=" + escaped(b);
  EXPECT_EQ(toy.get("/recommend", "user=" + user + exclude).body,
            line(user_answer(model, user, 10, {.exclude = &set})));
  const float least = wanted["items"][0]["score"].get<float>();
  EXPECT_EQ(Json::parse(toy.get("/recommend", "user=" + user + only +
                                                  "&min_score=" + std::to_string(least - 1e-4))
                            .body)["items"]
                .size(),
            wanted["items"][1]["score"].get<double>() > least - 1e-4 ? 2U : 1U);

  const auto post = [&](const Json& body) {
    return toy.ask("POST", "/recommend", "", line(body)).body;
  };
  EXPECT_EQ(post({{"users", {user}}, {"only", {a, b}}, {"include_seen", true}}),
            line({{"answers", Json::array({wanted})}}));
  EXPECT_EQ(post({{"users", {user}}, {"only_list", "both"}, {"include_seen", true}}),
            line({{"answers", Json::array({wanted})}}));
  EXPECT_EQ(post({{"items", {a}}, {"exclude", {a, b}}, {"min_score", -0.5}}),
            line(items_answer(model, {a}, 10, {.exclude = &set, .min_score = -0.5F})));
  EXPECT_EQ(post({{"items", {a}}, {"include_seen", true}}),
            line(items_answer(model, {a}, 10, {.seen = Seen::kKeep})));
  EXPECT_EQ(Json::parse(post({{"items", {a}}, {"only", Json::array()}}))["items"], Json::array());

  const std::string other(model.item_id(0));
  EXPECT_EQ(toy.get("/similar", "item=" + escaped(other) + "&only_list=both").body,
            line(similar_answer(model, other, 10, {.only = &set})));

  expect_error(toy.get("/recommend", "user=" + user + "&only_list=x"), 404,
               "unknown list 'x'; there are: both");
  expect_error(toy.get("/recommend", "user=" + user + "&only_list=both&only=x"), 400,
               "give either only or only_list");
  expect_error(toy.get("/recommend", "user=" + user + "&min_score=nan"), 400,
               "min_score is nan, expected a finite number");
  expect_error(toy.get("/recommend", "user=" + user + "&min_score=1x"), 400,
               "min_score is '1x', expected a number");
}

TEST(Handlers, PopularItemsForWhoIsMissing) {
  const ServedToy toy;
  const Model& model = toy.model();
  const Json popular = user_answer("x", model.popular_items(2))["items"];
  ASSERT_EQ(popular.size(), 2U);
  const Json expected = {{"user", "x"}, {"popular", true}, {"items", popular}};
  EXPECT_EQ(toy.get("/recommend", "user=x&k=2&missing=popular&min_score=100").body, line(expected));
  EXPECT_EQ(toy.get("/recommend", "user=x&missing=error").status, 404);
  const std::string known(model.user_id(2));
  EXPECT_EQ(toy.get("/recommend", "missing=popular&user=" + known).body,
            line(user_answer(model, known, 10)));
  const std::string best = popular[0]["item"];
  EXPECT_EQ(
      Json::parse(toy.get("/recommend", "user=x&missing=popular&exclude=item%20" + best.substr(5))
                      .body)["items"][0],
      popular[1]);
  const auto post = [&](const Json& body) {
    return Json::parse(toy.ask("POST", "/recommend", "", line(body)).body);
  };
  EXPECT_EQ(post({{"users", {known, "x"}}, {"k", 2}, {"missing", "popular"}})["answers"],
            Json({user_answer(model, known, 2), expected}));
  EXPECT_EQ(
      post({{"items", {"a", "b"}}, {"k", 2}, {"missing", "popular"}}),
      Json(
          {{"given", {"a", "b"}}, {"popular", true}, {"items", popular}, {"unknown", {"a", "b"}}}));
  const std::string item(model.item_id(1));
  EXPECT_EQ(post({{"items", {item, "b"}}, {"missing", "popular"}}),
            items_answer(model, {item, "b"}, 10));
  expect_error(toy.get("/recommend", "user=x&missing=best"), 400,
               "missing is 'best', not error or popular");
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

TEST(Handlers, ScoresOfOneItemAndOfMany) {
  const ServedToy toy;
  const Model& model = toy.model();
  const std::string user(model.user_id(2));
  const std::string a(model.item_id(1));
  const std::string b(model.item_id(4));
  EXPECT_EQ(toy.get("/score", "user=" + user + "&item=item%20" + a.substr(5)).body,
            line({{"user", user}, {"item", a}, {"score", model.score(user, a)}}));
  expect_error(toy.get("/score", "user=nobody&item=x"), 404, "unknown user 'nobody'");
  expect_error(toy.get("/score", "user=" + user + "&item=x"), 404, "unknown item 'x'");
  expect_error(toy.get("/score", "user=" + user), 400, "parameter item is missing");

  const auto post = [&](const Json& body) { return toy.ask("POST", "/score", "", line(body)); };
  const std::string_view items[] = {b, a};
  const std::vector<float> scores = model.scores(user, items);
  const Json scored = {{{"item", b}, {"score", scores[0]}}, {{"item", a}, {"score", scores[1]}}};
  EXPECT_EQ(post({{"user", user}, {"items", {b, a}}}).body,
            line({{"user", user}, {"items", scored}}));
  EXPECT_EQ(post({{"user", user}, {"items", {"what", b, a}}}).body,
            line({{"user", user}, {"items", scored}, {"unknown", {"what"}}}));
  EXPECT_EQ(post({{"user", user}, {"items", Json::array()}}).body,
            line({{"user", user}, {"items", Json::array()}}));
  expect_error(post({{"user", "nobody"}, {"items", {a}}}), 404, "unknown user 'nobody'");
  expect_error(post({{"items", {a}}}), 400, "the body: user is missing");
}

TEST(Handlers, SimilarItemsOfMany) {
  const ServedToy toy;
  const Model& model = toy.model();
  const std::string a(model.item_id(1));
  const std::string b(model.item_id(4));
  const HttpResponse response =
      toy.ask("POST", "/similar", "", line({{"items", {a, "what", b}}, {"k", 2}}));
  EXPECT_EQ(response.status, 200);
  const Json answers = {similar_answer(model, a, 2),
                        {{"item", "what"}, {"error", "unknown item 'what'"}},
                        similar_answer(model, b, 2)};
  EXPECT_EQ(response.body, line({{"answers", answers}}));
  expect_error(toy.ask("POST", "/similar", "", "{}"), 400, "the body: items is missing");
}

TEST(Handlers, ATokenIsNeededOnEveryPathButHealthz) {
  const ServedToy toy;
  Metrics metrics;
  const Handlers handlers(
      [&] { return std::shared_ptr<const ModelWithLists>(std::shared_ptr<void>(), &toy.served()); },
      metrics, BearerToken("0123456789abcdef"));
  const auto ask = [&](const std::string& path, const std::string& authorization) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.authorization = authorization;
    const HttpResponse response = handlers.answer(request);
    if (response.status == 401) {
      EXPECT_TRUE(handlers.is_quick(request)) << "no worker is needed to refuse";
      EXPECT_EQ(response.headers, "WWW-Authenticate: Bearer\r\n");
      EXPECT_EQ(response.route, kNoRoute);
    }
    return response.status;
  };
  for (const char* const path :
       {"/", "/recommend", "/similar", "/score", "/seen", "/users", "/items", "/popular", "/model",
        "/metrics", "/openapi.json", "/nothing"}) {
    EXPECT_EQ(ask(path, ""), 401) << path;
    EXPECT_EQ(ask(path, "Bearer 0123456789abcdeF"), 401) << path;
    EXPECT_NE(ask(path, "Bearer 0123456789abcdef"), 401) << path;
  }
  EXPECT_EQ(ask("/healthz", ""), 200);
  EXPECT_EQ(ask("/model", "bearer 0123456789abcdef"), 200) << "schemes have no case";
}

// The description and the handlers must not drift apart: every documented operation is called with
// what it documents, and its answer has the keys that are documented.
TEST(OpenApi, IsWhatTheHandlersTakeAndAnswer) {
  ServedToy toy;
  toy.set_titles(std::string(toy.model().item_id(1)) + ",a title\n");
  const Json api = Json::parse(toy.get("/openapi.json").body);
  EXPECT_EQ(api["openapi"], "3.0.3");
  const std::string user(toy.model().user_id(2));
  const std::string item(toy.model().item_id(1));
  const Json values = {{"user", user},
                       {"users", {user}},
                       {"item", item},
                       {"items", {item}},
                       {"k", 2},
                       {"only", {item}},
                       {"limit", 3},
                       {"only_list", "both"},
                       {"exclude", {item}},
                       {"min_score", 0.5},
                       {"include_seen", true},
                       {"missing", "popular"},
                       {"prefix", "u"},
                       {"q", "item"}};
  // What can be asked for, with only the needed parameters and `name`.
  const auto is_needed = [](const Json& names, const std::string& name) {
    return std::find(names.begin(), names.end(), Json(name)) != names.end();
  };
  const auto expect_documented = [&](const HttpResponse& response, const Json& operation,
                                     const std::string& what) {
    ASSERT_EQ(response.status, 200) << what << ": " << response.body;
    const Json& content = operation["responses"]["200"]["content"];
    const std::string type = content.begin().key();
    ASSERT_TRUE(response.content_type.starts_with(type)) << what;
    if (type != "application/json") return;
    const std::string ref = content[type]["schema"]["$ref"];
    const Json schema = api["components"]["schemas"].at(ref.substr(ref.rfind('/') + 1));
    const Json answer = Json::parse(response.body);
    for (const Json& key : schema.value("required", Json::array())) {
      EXPECT_TRUE(answer.contains(key.get<std::string>())) << what << ": " << key;
    }
    if (!schema.contains("properties")) return;
    for (const auto& [key, value] : answer.items()) {
      EXPECT_TRUE(schema["properties"].contains(key)) << what << ": " << key;
    }
  };
  std::string paths;
  for (const auto& [path, methods] : api["paths"].items()) {
    paths += (paths.empty() ? "" : " ") + path;
    EXPECT_EQ(methods.contains("post"), toy.ask("POST", path, "").status != 405) << path;
    const Json& get = methods.at("get");
    Json needed = Json::array();
    std::vector<std::string> names;
    for (const Json& parameter : get["parameters"]) {
      names.push_back(parameter["name"]);
      if (parameter["required"]) needed.push_back(parameter["name"]);
    }
    names.emplace_back();  // nothing but what is needed
    const auto query_of = [&](const std::string& name) {
      std::string query;
      for (const auto& [key, value] : values.items()) {
        if (key != name && !is_needed(needed, key)) continue;
        const Json& one = value.is_array() ? value[0] : value;
        std::string text = one.is_string() ? one.get<std::string>() : one.dump();
        if (one.is_boolean()) text = "1";
        if (const std::size_t blank = text.find(' '); blank != std::string::npos) text[blank] = '+';
        query += (query.empty() ? "" : "&") + key + "=" + text;
      }
      return query;
    };
    for (const std::string& name : names) {
      ASSERT_TRUE(name.empty() || values.contains(name)) << "no value for " << name;
      expect_documented(toy.get(path, query_of(name)), get, path + " " + name);
    }
    EXPECT_EQ(toy.get(path, "undocumented=1").status, path == "/" ? 200 : 400) << path;
    EXPECT_EQ(toy.get(path).status, needed.empty() ? 200 : 400) << path;
    if (!methods.contains("post")) continue;
    const Json& post = methods["post"];
    const Json& schema = post["requestBody"]["content"]["application/json"]["schema"];
    const Json must = schema.value("required", Json::array());
    for (const auto& [name, property] : schema["properties"].items()) {
      ASSERT_TRUE(values.contains(name)) << "no value for " << name;
      Json body = {{name, values[name]}};
      for (const Json& other : must)
        body[other.get<std::string>()] = values[other.get<std::string>()];
      // One of the two lists.
      if (path == "/recommend" && name != "users" && name != "items") body["users"] = {user};
      expect_documented(toy.ask("POST", path, "", line(body)), post, path + " " + name);
    }
    EXPECT_EQ(toy.ask("POST", path, "", R"({"undocumented": 1})").status, 400) << path;
  }
  EXPECT_NE(toy.get("/nothing").body.find("known paths: " + paths + "\""), std::string::npos)
      << "other paths than " << paths;
}

TEST(Handlers, TitlesStandBesideIdsInEveryAnswer) {
  ServedToy toy;
  std::string text;
  for (std::uint32_t row = 0; row < toy.model().num_items(); ++row) {
    text += std::string(toy.model().item_id(row)) + ",Film " + std::to_string(row) + "\n";
  }
  std::string user;
  for (std::uint32_t row = 0; row < toy.model().num_users(); ++row) {
    const std::string_view other = toy.model().user_id(row);
    if (other.starts_with('u') && !toy.model().seen_items(other).empty()) user = other;
  }
  const std::string item(toy.model().item_id(1));
  const std::string escaped = "item%20" + item.substr(5);
  struct Question {
    std::string path, query, body;
    std::size_t titles;  // in its answer
  };
  const std::size_t seen = toy.model().seen_items(user).size();
  const Question questions[] = {
      {"/recommend", "user=" + user + "&k=3", "", 3},
      {"/recommend", "user=nobody&missing=popular&k=3", "", 3},
      {"/recommend", "", line({{"users", {user, "nobody"}}, {"k", 2}}), 2},
      {"/recommend", "", line({{"items", {item, "what"}}, {"k", 2}}), 3},
      {"/similar", "item=" + escaped + "&k=2", "", 3},
      {"/similar", "", line({{"items", {item, "what"}}, {"k", 2}}), 3},
      {"/score", "user=" + user + "&item=" + escaped, "", 1},
      {"/score", "", line({{"user", user}, {"items", {item}}}), 1},
      {"/seen", "user=" + user, "", seen},
      {"/items", "limit=2", "", 2},
      {"/popular", "k=2", "", 2}};
  const auto ask = [&](const Question& question) {
    return toy.ask(question.body.empty() ? "GET" : "POST", question.path, question.query,
                   question.body);
  };
  std::vector<std::string> plain;
  for (const Question& question : questions) {
    plain.push_back(ask(question).body);
    EXPECT_EQ(plain.back().find("title"), std::string::npos) << question.path;
  }
  EXPECT_EQ(toy.get("/model").body.find("\"titles\""), std::string::npos);
  toy.set_titles(text + "what else,Film nobody knows\n");
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const HttpResponse response = ask(questions[i]);
    ASSERT_EQ(response.status, 200) << response.body;
    std::size_t count = 0;
    for (std::size_t at = 0; (at = response.body.find("\"Film ", at)) != std::string::npos; ++at) {
      ++count;
    }
    EXPECT_EQ(count, questions[i].titles) << questions[i].path << ' ' << response.body;
  }
  EXPECT_EQ(Json::parse(toy.get("/model").body)["titles"], toy.model().num_items());
  EXPECT_EQ(Json::parse(toy.get("/similar", "item=" + escaped + "&k=1").body)["title"], "Film 1");
  EXPECT_EQ(toy.get("/items", "q=FILM+1&limit=1").body,
            line({{"items", {{{"item", item}, {"title", "Film 1"}}}},
                  {"total", Json::parse(toy.get("/items", "q=film+1").body)["total"]}}));
}

TEST(Handlers, ItemsByIdAndPopularOnes) {
  const ServedToy toy;
  const std::string item(toy.model().item_id(1));
  const HttpResponse one = toy.get("/items", "q=item%20" + item.substr(5));
  EXPECT_EQ(Json::parse(one.body)["items"][0], Json({{"item", item}}));
  const Json all = Json::parse(toy.get("/items").body);
  EXPECT_EQ(all["total"], toy.model().num_items());
  EXPECT_EQ(Json::parse(toy.get("/items", "q=what").body),
            Json({{"items", Json::array()}, {"total", 0}}));
  expect_error(toy.get("/items", "limit=0"), 400, "limit is 0, not 1 to 1000");
  EXPECT_EQ(toy.get("/items", "q=" + std::string(256, 'a')).status, 200);
  expect_error(toy.get("/items", "q=" + std::string(257, 'a')), 400,
               "q has 257 bytes, not up to 256");
  EXPECT_EQ(toy.get("/popular", "k=2").body,
            line({{"items", user_answer("x", toy.model().popular_items(2))["items"]}}));
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
  expect_error(toy.get("/recommend", "user=a&include_seen=2"), 400,
               "include_seen is '2', not 0 or 1");
  expect_error(
      toy.get("/Recommend"), 404,
      "unknown path '/Recommend'; known paths: / /recommend /similar /score /seen /users /items "
      "/popular /model /healthz /metrics /openapi.json");
  expect_error(toy.ask("POST", "/recommend", "", "{"), 400,
               "the body is not valid JSON: error at byte 2");
}

TEST(Handlers, TheKindOfAnErrorDecidesTheStatus) {
  Metrics metrics;
  const auto status_of = [&](ErrorKind kind) {
    const Handlers handlers(
        [&]() -> std::shared_ptr<const ModelWithLists> { throw Error("a reason", kind); }, metrics);
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
       {"/", "/recommend", "/similar", "/score", "/seen", "/users", "/items", "/popular", "/model",
        "/healthz", "/metrics", "/openapi.json"}) {
    const std::string name = path;
    const bool takes_post = name == "/recommend" || name == "/similar" || name == "/score";
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
  for (const char* const path : {"/", "/healthz", "/metrics", "/openapi.json", "/nothing"}) {
    EXPECT_TRUE(is_quick(path)) << path;
  }
  for (const char* const path :
       {"/recommend", "/similar", "/score", "/seen", "/users", "/items", "/popular", "/model"}) {
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
