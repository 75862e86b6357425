#pragma once

#include <functional>
#include <memory>

#include "bet/model.h"
#include "serve/http_application.h"
#include "serve/metrics.h"

namespace bet {

// The routes of `bet-serve http` (docs/serving.md): a request and a model in, an answer out. No
// sockets here.
class Handlers : public HttpApplication {
 public:
  // Asked once for each request; the model stays for as long as the request takes.
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
