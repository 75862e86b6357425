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
  // With the list "both" of two items.
  ServedToy()
      : bytes_(exact_bytes(served_toy_bytes())),
        served_{std::make_shared<const Model>(Model::from_bytes(bytes_)), {}} {
    const std::string_view both[] = {model().item_id(1), model().item_id(4)};
    served_.lists.emplace("both", model().item_set(both, Model::Use::kOften));
  }

  // As a file of titles has them.
  void set_titles(std::string_view text) {
    served_.titles = std::make_shared<const Titles>(Titles::parse(text, "titles"));
    served_.items_with_title = served_.titles->count_known(model());
  }

  const Model& model() const { return *served_.model; }
  const ModelWithLists& served() const { return served_; }
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
  ModelWithLists served_;
  Metrics metrics_;
  // This object owns the model: the pointers it gives out own nothing.
  Handlers handlers_{
      [this] { return std::shared_ptr<const ModelWithLists>(std::shared_ptr<void>(), &served_); },
      metrics_};
};

}  // namespace bet::test
