#pragma once

#include <memory>
#include <string>

#include "bet/model.h"
#include "runtime/toy_model.h"
#include "serve/handlers.h"
#include "serve/metrics.h"

namespace bet::test {

// The bytes of a small model: users "zo\xc3\xab &+%", "\xff\x01" and "u..", items "item ..".
inline std::string served_toy_bytes(std::uint32_t seed = 1) {
  ToyOptions options;
  options.seed = seed;
  ToyModel toy(options);
  toy.model.users.ids[0] = "zo\xc3\xab &+%";
  toy.model.users.ids[1] = "\xff\x01";
  return toy.encode();
}

// The model and its handlers, without a socket.
class ServedToy {
 public:
  ServedToy() : bytes_(exact_bytes(served_toy_bytes())), model_(Model::from_bytes(bytes_)) {}

  const Model& model() const { return model_; }
  Metrics& metrics() { return metrics_; }
  const Handlers& handlers() const { return handlers_; }

  HttpResponse get(const std::string& path, const std::string& query = "") const {
    return ask("GET", path, query);
  }
  HttpResponse ask(const std::string& method, const std::string& path, const std::string& query,
                   const std::string& body = "") const {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.query = query;
    request.body = body;
    return handlers_.answer(request);
  }

 private:
  std::vector<std::byte> bytes_;
  Model model_;
  Metrics metrics_;
  // This object owns the model: the pointers it gives out own nothing.
  Handlers handlers_{
      [this] { return std::shared_ptr<const Model>(std::shared_ptr<void>(), &model_); }, metrics_};
};

}  // namespace bet::test
