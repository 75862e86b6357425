#include "serve/model_json.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "serve/table_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

Json sizes_json(const std::vector<std::uint32_t>& counts) {
  Json json = Json::object();
  for (std::size_t size = 0; size < counts.size(); ++size) {
    if (counts[size] > 0) json[std::to_string(size)] = counts[size];
  }
  return json;
}

// Facts that make no sense become an error here and do not prevent the rest.
Json own_budget(const Model& model) {
  try {
    return budget_json(model, "the file");
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace

Json model_json(const Model& model) {
  const Model::Summary summary = model.summary();
  Json sections = Json::array();
  for (const Model::Part& part : model.parts()) {
    sections.push_back({{"name", part.name}, {"bytes", part.bytes}});
  }
  Json facts = Json::object();
  for (const auto& [name, fact] : model.facts()) {
    std::visit([&, &key = name](const auto& value) { facts[key] = value; }, fact);
  }
  Json json = {{"backbone", summary.backbone},
               {"serving", summary.serving},
               {"precision", summary.precision},
               {"item_precision", summary.item_precision},
               {"layout", summary.layout},
               {"score", summary.score},
               {"users", model.num_users()},
               {"items", model.num_items()},
               {"interactions", summary.interactions},
               {"dimension", model.dimension()},
               {"row_width", model.row_width()},
               {"max_dim", summary.max_dim}};
  json.update(table_json(model));
  json.update(Json{
      {"budget", own_budget(model)},
      {"file_bytes", summary.file_bytes},
      {"opened_bytes", summary.opened_bytes},
      {"sections", sections},
      {"user_sizes", sizes_json(summary.user_sizes)},
      {"item_sizes", sizes_json(summary.item_sizes)},
      {"example_user", model.num_users() > 0 ? Json(std::string(model.user_id(0))) : Json(nullptr)},
      {"facts", facts}});
  return json;
}

}  // namespace bet
