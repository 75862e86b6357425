#include <cstdio>
#include <memory>
#include <string>

#include "runtime/load_model_file.h"
#include "serve/answer.h"
#include "serve/commands.h"
#include "serve/model_json.h"
#include "serve/model_path.h"
#include "serve/table_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct InspectCommand {
  std::string model;
  bool json = false;
};

void print_budget(const Json& budget) {
  if (budget.is_null()) return;
  const std::string text = budget.contains("error")
                               ? "cannot be checked: " + budget["error"].get<std::string>()
                               : budget_text(budget);
  std::printf("budget  %s\n", text.c_str());
}

// "int8", or "int2 users, int1 items" where they differ.
std::string precision_text(const Json& json) {
  const auto users = json["precision"].get<std::string>();
  const auto items = json["item_precision"].get<std::string>();
  return users == items ? users : users + " users, " + items + " items";
}

void print_facts(const Json& facts, const std::string& precision) {
  bool has_fp32 = false;
  for (const auto& [name, value] : facts.items()) {
    std::printf("%-24s %s\n", name.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : json_text(value).c_str());
    has_fp32 = has_fp32 || name.starts_with("test_fp32.");
  }
  if (has_fp32) {
    std::printf(
        "\ntest.* was measured with the values in this file (%s), test_fp32.* before they "
        "were rounded\n",
        precision.c_str());
  }
}

void print_facts(const Json& json) {
  const auto text = [&](const char* key) { return json[key].get<std::string>(); };
  std::printf("%s, %s, %s layout, served %s%s\n", text("backbone").c_str(),
              precision_text(json).c_str(), text("layout").c_str(),
              text("serving") == "graph" ? "by graph" : text("serving").c_str(),
              text("score") == "cosine" ? ", scored by cosines" : "");
  std::printf("%u users, %u items, %llu interactions; rows of up to %u values\n",
              json["users"].get<unsigned>(), json["items"].get<unsigned>(),
              json["interactions"].get<unsigned long long>(), json["row_width"].get<unsigned>());
  std::printf("holds   %s\n", table_text(json).c_str());
  print_budget(json["budget"]);
  std::printf("\n");
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
    std::printf("\nopening the file fills %llu bytes of memory\n",
                json["opened_bytes"].get<unsigned long long>());
  }
  std::printf("\n");
  print_facts(json["facts"], precision_text(json));
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "inspect", "show what a model file holds and where every byte of it goes");
  const auto options = std::make_shared<InspectCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, kModelHelp)->required();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = model_json(*load_model_file(model_path(options->model)));
    if (options->json) {
      std::puts(json_text(json).c_str());
    } else {
      print_facts(json);
    }
  });
}

}  // namespace bet
