#pragma once

#include <functional>
#include <memory>

#include "bet/model.h"
#include "serve/http_application.h"
#include "serve/metrics.h"

namespace bet {

// The routes of `bet-serve http` (docs/serving.md): turns a request into an answer from a model.
// Knows nothing of sockets.
class Handlers : public HttpApplication {
 public:
  // Called once for each request, which keeps the model until it is answered.
  using ModelSource = std::function<std::shared_ptr<const Model>()>;

  // The metrics must outlive this.
  Handlers(ModelSource models, const Metrics& metrics)
      : models_(std::move(models)), metrics_(metrics) {}

  HttpResponse answer(const HttpRequest& request) const override;
  bool is_quick(const HttpRequest& request) const override;

 private:
  ModelSource models_;
  const Metrics& metrics_;
};

}  // namespace bet
