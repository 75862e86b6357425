#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/with_commas.h"
#include "cli/commands.h"
#include "cli/option_parser.h"
#include "data/statistics.h"
#include "run/data_options.h"
#include "run/report_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct StatsCommand {
  DataOptions data;
  bool json = false;
};

Json to_json(const CountSummary& summary) {
  return {{"min", summary.min}, {"median", summary.median}, {"max", summary.max}};
}

Json collect(const DataOptions& options) {
  Dataset dataset = options.load();
  const DatasetStatistics statistics = describe(dataset);
  Json json = {{"name", dataset.name},
               {"format", dataset.format},
               {"columns", dataset.columns.empty() ? Json(nullptr) : Json(dataset.columns)},
               {"header", dataset.header},
               {"users", dataset.num_users()},
               {"items", dataset.num_items()},
               {"interactions", dataset.num_interactions()},
               {"duplicates", dataset.duplicates},
               {"below_min_rating", dataset.below_min_rating},
               {"density", statistics.density},
               {"per_user", to_json(statistics.per_user)},
               {"per_item", to_json(statistics.per_item)},
               {"hash", dataset.hash()}};
  const std::string note = split_note(dataset, options.split);
  const Split::Counts parts = options.split_of(dataset).counts();
  json["split"] = {{"kind", split_name(options.split)},
                   {"seed", options.split_seed},
                   {"train", parts.train},
                   {"validation", parts.validation},
                   {"test", parts.test},
                   {"note", note.empty() ? Json(nullptr) : Json(note)}};
  return json;
}

std::string spread_text(const Json& summary) {
  return with_commas(summary["min"]) + " / " + with_commas(summary["median"]) + " / " +
         with_commas(summary["max"]);
}

void print_text(const Json& json) {
  const auto line = [](const char* what, const std::string& value) {
    std::printf("%-13s %s\n", what, value.c_str());
  };
  const Json& split = json["split"];
  line("data", json["name"].get<std::string>() + " (" + json["format"].get<std::string>() + ")");
  if (!json["columns"].is_null()) line("columns", json["columns"]);
  line("users", with_commas(json["users"]));
  line("items", with_commas(json["items"]));
  line("interactions", with_commas(json["interactions"]) + ", " + with_commas(json["duplicates"]) +
                           " duplicates merged");
  if (json["below_min_rating"] > 0) {
    line("left out", with_commas(json["below_min_rating"]) + " rated below --min-rating");
  }
  char density[32];
  std::snprintf(density, sizeof(density), "%.4g %%", 100.0 * json["density"].get<double>());
  line("density", density);
  line("per user", spread_text(json["per_user"]) + " (min / median / max)");
  line("per item", spread_text(json["per_item"]));
  line("split", with_commas(split["train"]) + " train, " + with_commas(split["validation"]) +
                    " validation, " + with_commas(split["test"]) + " test (" +
                    split["kind"].get<std::string>() + ", seed " + split["seed"].dump() + ")");
  if (!split["note"].is_null()) line("note", split["note"]);
  line("hash", json["hash"]);
}

}  // namespace

void add_data_stats(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("stats", "count what a data set holds");
  const auto options = std::make_shared<StatsCommand>();  // owned by the parser's callback
  add_options(command, data_option_table(), options->data);
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = collect(options->data);
    if (options->json) {
      std::puts(json_text(json).c_str());
    } else {
      print_text(json);
    }
  });
}

}  // namespace bet
