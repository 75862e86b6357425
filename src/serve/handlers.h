#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "serve/bearer_token.h"
#include "serve/http_application.h"
#include "serve/metrics.h"
#include "serve/served_model.h"

namespace bet {

// The routes of `bet-serve http` (docs/serving.md): turns a request into an answer from a model.
// Knows nothing of sockets.
class Handlers : public HttpApplication {
 public:
  // Called once for each request, which keeps the model until it is answered.
  using ModelSource = std::function<std::shared_ptr<const ModelWithLists>()>;

  // Puts events into the log and returns how many were new.
  using AddEvents = std::function<std::size_t(const std::vector<Event>&)>;

  // The metrics must outlive this. With a token, requests without it get 401, on all paths but
  // /healthz. Without a way to add events there is no path /events.
  Handlers(ModelSource models, const Metrics& metrics, std::optional<BearerToken> token = {},
           AddEvents add_events = {})
      : models_(std::move(models)),
        metrics_(metrics),
        token_(std::move(token)),
        add_events_(std::move(add_events)) {}

  HttpResponse answer(const HttpRequest& request) const override;
  bool is_quick(const HttpRequest& request) const override;

 private:
  bool is_allowed(const HttpRequest& request) const;

  ModelSource models_;
  const Metrics& metrics_;
  std::optional<BearerToken> token_;
  AddEvents add_events_;
};

}  // namespace bet
