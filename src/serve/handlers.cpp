#include "serve/handlers.h"

#include <algorithm>
#include <array>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/answer.h"
#include "serve/answer_options.h"
#include "serve/answer_titles.h"
#include "serve/arguments.h"
#include "serve/item_search.h"
#include "serve/live_answer.h"
#include "serve/model_json.h"
#include "serve/openapi.h"
#include "serve/page.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct Context {
  const HttpRequest& request;
  const ModelWithLists& served;
  const Metrics& metrics;
  const Handlers::AddEvents& add_events;

  const Model& model() const { return *served.model; }
};

HttpResponse json_response(const Json& json) {
  HttpResponse response;
  response.body = json_text(json) + "\n";
  return response;
}

// The same for an answer with items: their titles stand beside them.
HttpResponse items_response(const Context& context, Json json) {
  return json_response(with_titles(std::move(json), context.served.titles.get()));
}

using Type = Parameter::Type;
constexpr std::size_t kMaxBatch = 100;         // of a batch
constexpr std::size_t kMaxItems = 1'000;       // of a list in a request
constexpr std::size_t kMaxListLength = 1'000;  // of an answer
constexpr std::size_t kMaxEventId = 4'096;     // bytes; as data files have it
constexpr std::size_t kMaxQueryBytes = 256;    // of a search

constexpr Parameter kUser = {"user", Type::kText, 0, true, "a user in the model file"};
constexpr Parameter kUsers = {"users", Type::kTexts, kMaxBatch, false, "users in the model file"};
constexpr Parameter kItem = {"item", Type::kText, 0, true, "an item in the model file"};
constexpr Parameter kGiven = {"items", Type::kTexts, kMaxItems, false,
                              "items that somebody who is not in the file has"};
constexpr Parameter kK = {"k", Type::kInteger, kMaxListLength, false, "how many items; 10"};
constexpr Parameter kOnly = {"only", Type::kTexts, kMaxItems, false,
                             "items that the answer is chosen from"};
constexpr Parameter kOnlyList = {"only_list", Type::kText, 0, false,
                                 "the same by the name of a list that the server has loaded"};
constexpr Parameter kExclude = {"exclude", Type::kTexts, kMaxItems, false,
                                "items that are not wanted"};
constexpr Parameter kMinScore = {"min_score", Type::kNumber, 0, false, "the least score"};
constexpr Parameter kIncludeSeen = {"include_seen", Type::kFlag, 0, false,
                                    "also items that the user had in training, or that were given"};

constexpr Parameter kMissing = {
    "missing", Type::kText, 0, false,
    "what an unknown user gets, or somebody with unknown items alone: error or popular"};

AnswerOptions answer_options(const Arguments& arguments) {
  AnswerOptions options;
  options.k = arguments.integer("k").value_or(options.k);
  if (arguments.has("only")) options.only = arguments.texts("only");
  options.only_list = arguments.text("only_list");
  options.exclude = arguments.texts("exclude");
  options.min_score = arguments.number("min_score");
  options.include_seen = arguments.flag("include_seen");
  if (arguments.has("missing")) {
    const std::string missing = arguments.text("missing");
    BET_CHECK(missing == "error" || missing == "popular", "missing is ", in_quotes(missing),
              ", not error or popular");
    if (missing == "popular") options.missing = Missing::kPopular;
  }
  return options;
}

// {"answers": [..]} with entry(id) for each, unless the time is up. `what` the ids are, for errors.
template <typename Entry>
HttpResponse batch(const Context& context, std::string_view what,
                   const std::vector<std::string>& ids, const Entry& entry) {
  Json answers = Json::array();
  for (const std::string& id : ids) {
    if (std::chrono::steady_clock::now() > context.request.deadline) {
      return error_response(
          503, str_cat("no time left after ", answers.size(), " of ", ids.size(), ' ', what));
    }
    answers.push_back(entry(id));
  }
  return items_response(context, {{"answers", std::move(answers)}});
}

constexpr std::array kGetRecommend = {kUser,    kK,        kOnly,        kOnlyList,
                                      kExclude, kMinScore, kIncludeSeen, kMissing};
HttpResponse get_recommend(const Context& context) {
  const Arguments arguments = Arguments::of_query(context.request.query, kGetRecommend);
  const AnswerOptions options = answer_options(arguments);
  const AnswerFilter filter(options, context.served);
  return items_response(context,
                        live_user_answer(context.served, arguments.text("user"), options, filter));
}

constexpr std::array kPostRecommend = {kUsers,   kGiven,    kK,           kOnly,   kOnlyList,
                                       kExclude, kMinScore, kIncludeSeen, kMissing};
HttpResponse post_recommend(const Context& context) {
  Arguments::of_query(context.request.query, {});
  const Arguments arguments = Arguments::of_body(context.request.body, kPostRecommend);
  const std::vector<std::string> users = arguments.texts("users");
  const std::vector<std::string> items = arguments.texts("items");
  BET_CHECK(users.empty() != items.empty(),
            "the body: give either users or items, as a list that is not empty");
  const AnswerOptions options = answer_options(arguments);
  const AnswerFilter filter(options, context.served);
  if (!items.empty()) {
    return items_response(
        context, items_answer(context.model(), items, options.k, filter.get(), options.missing));
  }
  return batch(context, "users", users, [&](const std::string& user) {
    return live_batch_entry(context.served, user, options, filter);
  });
}

constexpr std::array kGetSimilar = {kItem, kK, kOnly, kOnlyList, kExclude, kMinScore};
HttpResponse get_similar(const Context& context) {
  const Arguments arguments = Arguments::of_query(context.request.query, kGetSimilar);
  const AnswerOptions options = answer_options(arguments);
  const AnswerFilter filter(options, context.served);
  return items_response(
      context, similar_answer(context.model(), arguments.text("item"), options.k, filter.get()));
}

constexpr Parameter kItems = {"items", Type::kTexts, kMaxBatch, true, "items in the model file"};
constexpr std::array kPostSimilar = {kItems, kK, kOnly, kOnlyList, kExclude, kMinScore};
HttpResponse post_similar(const Context& context) {
  Arguments::of_query(context.request.query, {});
  const Arguments arguments = Arguments::of_body(context.request.body, kPostSimilar);
  const AnswerOptions options = answer_options(arguments);
  const AnswerFilter filter(options, context.served);
  return batch(context, "items", arguments.texts("items"), [&](const std::string& item) {
    return similar_entry(context.model(), item, options.k, filter.get());
  });
}

constexpr std::array kGetScore = {kUser, kItem};
HttpResponse get_score(const Context& context) {
  const Arguments arguments = Arguments::of_query(context.request.query, kGetScore);
  const std::string user = arguments.text("user");
  const std::string item = arguments.text("item");
  return items_response(
      context, {{"user", user}, {"item", item}, {"score", context.model().score(user, item)}});
}

constexpr std::array<Parameter, 2> kPostScore = {
    {kUser, {"items", Type::kTexts, kMaxItems, true, "items to be scored"}}};
HttpResponse post_score(const Context& context) {
  Arguments::of_query(context.request.query, {});
  const Arguments arguments = Arguments::of_body(context.request.body, kPostScore);
  return items_response(
      context, scores_answer(context.model(), arguments.text("user"), arguments.texts("items")));
}

constexpr std::array kGetSeen = {kUser};
HttpResponse get_seen(const Context& context) {
  const std::string user = Arguments::of_query(context.request.query, kGetSeen).text("user");
  Json items = Json::array();
  for (std::string& item : live_seen_items(context.served, user)) items.push_back(std::move(item));
  return items_response(context, {{"user", user}, {"items", std::move(items)}});
}

bool is_json(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; \t"));
  constexpr std::string_view kJson = "application/json";
  return std::equal(type.begin(), type.end(), kJson.begin(), kJson.end(),
                    [](char a, char b) { return a == b || (a | 0x20) == b; });
}

constexpr std::array<Parameter, 2> kPostEvents = {
    {{"user", Type::kText, 0, true, "a user, who may be new"},
     {"items", Type::kTexts, kMaxItems, true, "items that the user has now, which may be new"}}};
HttpResponse post_events(const Context& context) {
  // A page of another host can make a browser send what a form could, but not this type unasked.
  if (!is_json(context.request.content_type)) {
    return error_response(415, "events need Content-Type: application/json");
  }
  Arguments::of_query(context.request.query, {});
  const Arguments arguments = Arguments::of_body(context.request.body, kPostEvents);
  std::vector<Event> events;
  for (std::string& item : arguments.texts("items")) {
    events.push_back({arguments.text("user"), std::move(item)});
  }
  BET_CHECK(!events.empty(), "the body: items is empty");
  for (const Event& event : events) {
    for (const std::string* const id : {&event.user, &event.item}) {
      BET_CHECK(!id->empty() && id->size() <= kMaxEventId, "an id of ", id->size(),
                " bytes; ids of events have 1 to ", kMaxEventId);
    }
  }
  try {
    const std::size_t added = context.add_events(events);
    return json_response(
        {{"user", arguments.text("user")}, {"added", added}, {"known", events.size() - added}});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBudget) throw;
    return error_response(507, error.what());
  }
}

HttpResponse get_events(const Context& context) {
  Arguments::of_query(context.request.query, {});
  const EventLog::Status status = context.served.events->status();
  return json_response({{"events", status.events},
                        {"waiting", status.waiting},
                        {"log_bytes", status.log_bytes},
                        {"compactions", status.compactions},
                        {"refused", status.refused}});
}

constexpr std::array<Parameter, 2> kGetUsers = {
    {{"prefix", Type::kText, 0, false, "how the ids begin"},
     {"limit", Type::kInteger, kMaxListLength, false, "how many ids; 20"}}};
HttpResponse get_users(const Context& context) {
  const Arguments arguments = Arguments::of_query(context.request.query, kGetUsers);
  const std::size_t limit = arguments.integer("limit").value_or(20);
  const std::string prefix = arguments.text("prefix");
  Json users = Json::array();
  std::uint64_t total = 0;
  for (std::uint32_t row = 0; row < context.model().num_users(); ++row) {
    const std::string_view user = context.model().user_id(row);
    if (!user.starts_with(prefix)) continue;
    if (++total <= limit) users.push_back(std::string(user));
  }
  return json_response({{"users", std::move(users)}, {"total", total}});
}

constexpr std::array kGetPopular = {kK};
HttpResponse get_popular(const Context& context) {
  const Arguments arguments = Arguments::of_query(context.request.query, kGetPopular);
  const AnswerOptions options = answer_options(arguments);
  return items_response(context, popular_answer(context.model(), options.k));
}

constexpr std::array<Parameter, 2> kGetItems = {
    {{"q", Type::kText, 0, false, "words of a title, or how an id begins"},
     {"limit", Type::kInteger, kMaxListLength, false, "how many items; 20"}}};
HttpResponse get_items(const Context& context) {
  const Arguments arguments = Arguments::of_query(context.request.query, kGetItems);
  const std::string query = arguments.text("q");
  // Each word is looked for in every title.
  BET_CHECK(query.size() <= kMaxQueryBytes, "q has ", query.size(), " bytes, not up to ",
            kMaxQueryBytes);
  const FoundItems found = find_items(context.model(), context.served.titles.get(), query,
                                      arguments.integer("limit").value_or(20));
  Json items = Json::array();
  for (const std::string_view item : found.items) items.push_back({{"item", std::string(item)}});
  return items_response(context, {{"items", std::move(items)}, {"total", found.total}});
}

HttpResponse get_model(const Context& context) {
  Arguments::of_query(context.request.query, {});
  Json json = model_json(context.model());
  if (context.served.titles != nullptr) json["titles"] = context.served.items_with_title;
  return json_response(json);
}

HttpResponse get_healthz(const Context& context) {
  Arguments::of_query(context.request.query, {});
  return json_response({{"status", "ok"}});
}

HttpResponse get_metrics(const Context& context) {
  Arguments::of_query(context.request.query, {});
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = context.metrics.text(context.model().summary().file_bytes);
  if (context.served.events != nullptr) {
    response.body += event_metrics_text(context.served.events->status());
  }
  return response;
}

// Takes any query: the page may keep what it shows there.
HttpResponse get_page(const Context& /*context*/) {
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  response.body = page_html();
  response.headers = str_cat("Content-Security-Policy: ", page_policy(), "\r\n");
  return response;
}

HttpResponse get_openapi(const Context& context);

using Handler = HttpResponse (*)(const Context&);

struct Operation {
  Handler handler = nullptr;  // null: there is none
  std::string_view summary;
  std::span<const Parameter> parameters;
  std::string_view answer;  // as OperationText has it
};

struct Route {
  std::string_view path;
  bool is_quick;
  Operation get;
  Operation post;
  bool needs_events = false;
};

constexpr std::array<Route, 13> kRoutes = {{
    {"/", true, {get_page, "a page to explore the model", {}, "text/html"}, {}},
    {"/recommend",
     false,
     {get_recommend, "the best items for a user", kGetRecommend, "UserAnswer"},
     {post_recommend, "the best items for several users, or for somebody who has some items",
      kPostRecommend, "Recommendations"}},
    {"/similar",
     false,
     {get_similar, "the items most similar to one", kGetSimilar, "SimilarItems"},
     {post_similar, "the items most similar to each of several", kPostSimilar, "SimilarBatch"}},
    {"/score",
     false,
     {get_score, "the score of an item for a user", kGetScore, "Score"},
     {post_score, "the scores of several items for a user", kPostScore, "Scores"}},
    {"/seen",
     false,
     {get_seen, "the items that a user had in training", kGetSeen, "SeenItems"},
     {}},
    {"/events",
     false,
     {get_events, "how many events there are", {}, "Events"},
     {post_events, "a user has some more items", kPostEvents, "AddedEvents"},
     true},
    {"/users", false, {get_users, "the users of the file", kGetUsers, "Users"}, {}},
    {"/items", false, {get_items, "items by title or id", kGetItems, "Items"}, {}},
    {"/popular", false, {get_popular, "what most users have", kGetPopular, "PopularItems"}, {}},
    {"/model", false, {get_model, "what the model file is", {}, "Object"}, {}},
    {"/healthz", true, {get_healthz, "whether the server answers", {}, "Health"}, {}},
    {"/metrics", true, {get_metrics, "counters for Prometheus", {}, "text/plain"}, {}},
    {"/openapi.json", true, {get_openapi, "this description", {}, "Object"}, {}},
}};

HttpResponse get_openapi(const Context& context) {
  Arguments::of_query(context.request.query, {});
  std::vector<OperationText> operations;
  for (const Route& route : kRoutes) {
    if (route.needs_events && !context.add_events) continue;
    for (const auto& [method, operation] :
         {std::pair("get", &route.get), std::pair("post", &route.post)}) {
      if (operation->handler == nullptr) continue;
      operations.push_back(
          {route.path, method, operation->summary, operation->parameters, operation->answer});
    }
  }
  return json_response(openapi_json(operations));
}

const Route* find_route(std::string_view path) {
  for (const Route& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

HttpResponse no_route(std::string_view path) {
  std::string paths;
  for (const Route& route : kRoutes) {
    if (!route.needs_events) paths += str_cat(paths.empty() ? "" : " ", route.path);
  }
  return error_response(404, str_cat("unknown path ", in_quotes(path), "; known paths: ", paths));
}

HttpResponse no_token(const HttpRequest& request) {
  HttpResponse response = error_response(401, request.authorization.empty()
                                                  ? "a token is needed: Authorization: Bearer TOKEN"
                                                  : "the token is wrong");
  response.headers = "WWW-Authenticate: Bearer\r\n";
  return response;
}

HttpResponse answer_by(const Route& route, const Context& context) {
  const std::string& method = context.request.method;
  if (method == "GET" || method == "HEAD") return route.get.handler(context);
  const bool takes_post = route.post.handler != nullptr;
  if (method == "POST" && takes_post) return route.post.handler(context);
  const std::string_view allowed = takes_post ? "GET, HEAD, POST" : "GET, HEAD";
  HttpResponse response = error_response(
      405, str_cat(in_quotes(method), " is not allowed for ", route.path, "; allowed: ", allowed));
  response.headers = str_cat("Allow: ", allowed, "\r\n");
  return response;
}

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadInput:
    case ErrorKind::kBudget:
      return 400;
    case ErrorKind::kNotFound:
      return 404;
    case ErrorKind::kInterrupted:
    case ErrorKind::kInternal:
      break;
  }
  return 500;
}

}  // namespace

bool Handlers::is_allowed(const HttpRequest& request) const {
  return !token_ || request.path == "/healthz" || token_->allows(request.authorization);
}

HttpResponse Handlers::answer(const HttpRequest& request) const {
  if (!is_allowed(request)) return no_token(request);
  const Route* const route = find_route(request.path);
  if (route == nullptr || (route->needs_events && !add_events_)) return no_route(request.path);
  HttpResponse response;
  try {
    const std::shared_ptr<const ModelWithLists> served = models_();
    response = answer_by(*route, {request, *served, metrics_, add_events_});
  } catch (const Error& error) {
    response = error_response(status_of(error.kind()), error.what());
  } catch (const std::exception& error) {  // no memory
    response = error_response(500, error.what());
  }
  response.route = route->path;
  return response;
}

bool Handlers::is_quick(const HttpRequest& request) const {
  const Route* const route = find_route(request.path);
  return !is_allowed(request) || route == nullptr || route->is_quick;
}

}  // namespace bet
