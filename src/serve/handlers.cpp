#include "serve/handlers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <initializer_list>
#include <utility>

#include "base/error.h"
#include "serve/answer.h"
#include "serve/batch_request.h"
#include "serve/limits.h"
#include "serve/model_json.h"
#include "serve/page.h"
#include "serve/query.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct Context {
  const HttpRequest& request;
  const Model& model;
  const Metrics& metrics;
};

HttpResponse json_response(const Json& json) {
  HttpResponse response;
  response.body = json_text(json) + "\n";
  return response;
}

// The request's parameters. Throws on one that the route does not take.
QueryParameters parameters(const HttpRequest& request,
                           std::initializer_list<std::string_view> taken) {
  QueryParameters query = parse_query(request.query);
  for (const auto& [name, value] : query) {
    BET_CHECK(std::find(taken.begin(), taken.end(), name) != taken.end(), "unknown parameter ",
              in_quotes(name));
  }
  return query;
}

const std::string& needed(const QueryParameters& query, std::string_view name) {
  const auto found = query.find(name);
  BET_CHECK(found != query.end(), "parameter ", name, " is missing");
  return found->second;
}

std::uint64_t number(const QueryParameters& query, std::string_view name, std::uint64_t otherwise) {
  const auto found = query.find(name);
  if (found == query.end()) return otherwise;
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  BET_CHECK(error == std::errc() && end == text.data() + text.size(), name, " is ", in_quotes(text),
            ", expected a non-negative integer");
  return value;
}

std::size_t wanted_k(const QueryParameters& query) { return checked_k(number(query, "k", 10)); }

HttpResponse get_recommend(const Context& context) {
  const QueryParameters query = parameters(context.request, {"user", "k", "with_seen"});
  const std::uint64_t with_seen = number(query, "with_seen", 0);
  BET_CHECK(with_seen <= 1, "with_seen is ", with_seen, ", not 0 or 1");
  return json_response(user_answer(context.model, needed(query, "user"), wanted_k(query),
                                   with_seen == 1 ? Model::Seen::kKeep : Model::Seen::kLeaveOut));
}

HttpResponse post_recommend(const Context& context) {
  parameters(context.request, {});
  const BatchRequest batch = parse_batch_request(context.request.body);
  if (!batch.items.empty()) {
    return json_response(items_answer(context.model, batch.items, batch.k));
  }
  Json answers = Json::array();
  for (const std::string& user : batch.users) {
    if (std::chrono::steady_clock::now() > context.request.deadline) {
      return error_response(503, str_cat("no time left after ", answers.size(), " of ",
                                         batch.users.size(), " users"));
    }
    answers.push_back(batch_entry(context.model, user, batch.k,
                                  batch.with_seen ? Model::Seen::kKeep : Model::Seen::kLeaveOut));
  }
  return json_response({{"answers", std::move(answers)}});
}

HttpResponse get_similar(const Context& context) {
  const QueryParameters query = parameters(context.request, {"item", "k"});
  return json_response(similar_answer(context.model, needed(query, "item"), wanted_k(query)));
}

HttpResponse get_seen(const Context& context) {
  const QueryParameters query = parameters(context.request, {"user"});
  const std::string& user = needed(query, "user");
  Json items = Json::array();
  for (const std::string_view item : context.model.seen_items(user)) {
    items.push_back(std::string(item));
  }
  return json_response({{"user", user}, {"items", std::move(items)}});
}

HttpResponse get_users(const Context& context) {
  const QueryParameters query = parameters(context.request, {"prefix", "limit"});
  const std::uint64_t limit = number(query, "limit", 20);
  BET_CHECK(limit >= 1 && limit <= kMaxListLength, "limit is ", limit, ", not 1 to ",
            kMaxListLength);
  const auto found = query.find("prefix");
  const std::string_view prefix = found == query.end() ? std::string_view() : found->second;
  Json users = Json::array();
  std::uint64_t total = 0;
  for (std::uint32_t row = 0; row < context.model.num_users(); ++row) {
    const std::string_view user = context.model.user_id(row);
    if (!user.starts_with(prefix)) continue;
    if (++total <= limit) users.push_back(std::string(user));
  }
  return json_response({{"users", std::move(users)}, {"total", total}});
}

HttpResponse get_model(const Context& context) {
  parameters(context.request, {});
  return json_response(model_json(context.model));
}

HttpResponse get_healthz(const Context& context) {
  parameters(context.request, {});
  return json_response({{"status", "ok"}});
}

HttpResponse get_metrics(const Context& context) {
  parameters(context.request, {});
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = context.metrics.text(context.model.summary().file_bytes);
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

using Handler = HttpResponse (*)(const Context&);

struct Route {
  std::string_view path;
  Handler get;
  Handler post;  // null if there is none
  bool quick;
};

constexpr std::array<Route, 8> kRoutes = {{
    {"/", get_page, nullptr, true},
    {"/recommend", get_recommend, post_recommend, false},
    {"/similar", get_similar, nullptr, false},
    {"/seen", get_seen, nullptr, false},
    {"/users", get_users, nullptr, false},
    {"/model", get_model, nullptr, false},
    {"/healthz", get_healthz, nullptr, true},
    {"/metrics", get_metrics, nullptr, true},
}};

const Route* find_route(std::string_view path) {
  for (const Route& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

HttpResponse no_route(std::string_view path) {
  std::string paths;
  for (const Route& route : kRoutes) paths += str_cat(paths.empty() ? "" : " ", route.path);
  return error_response(404, str_cat("unknown path ", in_quotes(path), "; known paths: ", paths));
}

HttpResponse answer_by(const Route& route, const Context& context) {
  const std::string& method = context.request.method;
  if (method == "GET" || method == "HEAD") return route.get(context);
  if (method == "POST" && route.post != nullptr) return route.post(context);
  const std::string_view allowed = route.post != nullptr ? "GET, HEAD, POST" : "GET, HEAD";
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

HttpResponse Handlers::answer(const HttpRequest& request) const {
  const Route* const route = find_route(request.path);
  if (route == nullptr) return no_route(request.path);
  HttpResponse response;
  try {
    const std::shared_ptr<const Model> model = models_();
    response = answer_by(*route, {request, *model, metrics_});
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
  return route == nullptr || route->quick;
}

}  // namespace bet
