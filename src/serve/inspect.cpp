#include <cstdio>
#include <memory>
#include <string>

#include "serve/answer.h"
#include "serve/commands.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct InspectCommand {
  std::string model;
  bool json = false;
};

Json sizes_json(const std::vector<std::uint32_t>& counts) {
  Json json = Json::object();
  for (std::size_t size = 0; size < counts.size(); ++size) {
    if (counts[size] > 0) json[std::to_string(size)] = counts[size];
  }
  return json;
}

Json inspect(const Model& model) {
  const Model::Summary summary = model.summary();
  Json sections = Json::array();
  for (const Model::Part& part : model.parts()) {
    sections.push_back({{"name", part.name}, {"bytes", part.bytes}});
  }
  Json facts = Json::object();
  for (const auto& [name, fact] : model.facts()) {
    std::visit([&, &key = name](const auto& value) { facts[key] = value; }, fact);
  }
  return {
      {"backbone", summary.backbone},
      {"serving", summary.serving},
      {"precision", summary.precision},
      {"layout", summary.layout},
      {"users", model.num_users()},
      {"items", model.num_items()},
      {"interactions", summary.interactions},
      {"dimension", model.dimension()},
      {"row_width", model.row_width()},
      {"max_dim", summary.max_dim},
      {"params", summary.params},
      {"table_bytes", summary.table_bytes},
      {"file_bytes", summary.file_bytes},
      {"opened_bytes", summary.opened_bytes},
      {"sections", sections},
      {"user_sizes", sizes_json(summary.user_sizes)},
      {"item_sizes", sizes_json(summary.item_sizes)},
      {"example_user", model.num_users() > 0 ? Json(std::string(model.user_id(0))) : Json(nullptr)},
      {"facts", facts}};
}

void print_text(const Json& json) {
  std::printf("%s, served by %s, %s, %s layout\n", json["backbone"].get<std::string>().c_str(),
              json["serving"].get<std::string>().c_str(),
              json["precision"].get<std::string>().c_str(),
              json["layout"].get<std::string>().c_str());
  std::printf("%u users, %u items, %llu interactions; %llu parameters in rows of up to %u\n\n",
              json["users"].get<unsigned>(), json["items"].get<unsigned>(),
              json["interactions"].get<unsigned long long>(),
              json["params"].get<unsigned long long>(), json["row_width"].get<unsigned>());
  const auto total = json["file_bytes"].get<unsigned long long>();
  const auto line = [&](const char* name, unsigned long long bytes) {
    std::printf("%-14s %12llu bytes  %5.1f %%\n", name, bytes,
                100.0 * static_cast<double>(bytes) / static_cast<double>(total));
  };
  for (const Json& part : json["sections"]) {
    line(part["name"].get<std::string>().c_str(), part["bytes"].get<unsigned long long>());
  }
  line("file", total);
  if (json["opened_bytes"] != 0) {
    std::printf("\n%llu bytes of memory are filled at opening\n",
                json["opened_bytes"].get<unsigned long long>());
  }
  std::printf("\n");
  for (const auto& [name, value] : json["facts"].items()) {
    std::printf("%-24s %s\n", name.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : json_text(value).c_str());
  }
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("inspect", "where every byte of a model file goes");
  const auto options = std::make_shared<InspectCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, "a model file")->required();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = inspect(Model::open(options->model));
    if (options->json) {
      std::puts(json_text(json).c_str());
    } else {
      print_text(json);
    }
  });
}

}  // namespace bet
