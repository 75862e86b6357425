#include "serve/update_command.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/with_commas.h"
#include "bet/model.h"
#include "bet/update.h"
#include "data/load.h"
#include "data/time_value.h"
#include "serve/file_budget.h"

namespace bet {
namespace {

struct UpdateCommand {
  std::string model;
  std::string data;
  std::string out;
  std::string expire;  // empty: nothing is too old
  bool replace = false;
};

std::vector<std::string> names_in(const IdTable& ids) {
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (std::uint32_t index = 0; index < ids.size(); ++index) names.push_back(ids.name(index));
  return names;
}

UpdatedModel updated_by(const UpdateCommand& command, const Dataset& dataset) {
  const std::vector<std::string> users = names_in(dataset.users);
  const std::vector<std::string> items = names_in(dataset.items);
  std::vector<NewInteraction> interactions;
  interactions.reserve(dataset.num_interactions());
  for (std::uint32_t user = 0; user < dataset.num_users(); ++user) {
    for (const ItemId item : dataset.interactions.row(user)) {
      interactions.push_back({users[user], items[item]});
    }
  }
  return update_model_file(command.model, interactions, {.replace = command.replace});
}

void say_what_changed(const UpdateCommand& command, const Dataset& dataset,
                      const UpdatedModel& updated, const Model& model) {
  const auto say = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  if (dataset.before_since > 0) {
    say(str_cat(command.data, ": ", with_commas(dataset.before_since), " interactions from before ",
                command.expire, " are left out"));
  }
  std::string changes =
      str_cat(with_commas(updated.new_interactions), " new interactions (",
              with_commas(updated.known_interactions), " were known), ",
              command.replace ? with_commas(updated.dropped_interactions) + " dropped, " : "",
              with_commas(updated.new_users), " new users and ", with_commas(updated.new_items),
              " new items; ", with_commas(updated.file.size()), " bytes, of the table ",
              with_commas(updated.table_bytes));
  const std::uint64_t more = updated.table_bytes - updated.table_bytes_before;
  say(str_cat(command.out, ": ", changes,
              more == 0 ? " as before" : str_cat(", ", with_commas(more), " of them new")));
  const Model::Summary summary = model.summary();
  const bool has_new = updated.new_users + updated.new_items > 0;
  if (summary.serving == "graph") {
    if (has_new) say("new rows are empty: their vectors come from their neighbours by the graph");
    return;
  }
  if (has_new) {
    say(summary.backbone == "ncf"
            ? "new rows are means: of a user, of the users of its items; of an item, of the items "
              "of its users"
            : "new rows are means: of a user, of its items; of an item, of its users");
  }
  say(summary.interactions > 0
          ? "the vectors of all others stay as they were, because the file has no graph"
          : "the file has no interactions and gets none: nothing else changes");
}

void update(const UpdateCommand& command) {
  ReadOptions options;
  if (!command.expire.empty()) {
    BET_CHECK(command.replace,
              "--expire needs --replace: the file does not know the times of its interactions, so "
              "give all that are to be kept and let them take their place");
    options.since = parse_time(command.expire);
  }
  const Dataset dataset = load_dataset(command.data, options);
  const UpdatedModel updated = updated_by(command, dataset);
  const Model model = Model::from_bytes(std::as_bytes(std::span(updated.file)), Verify::kStructure);
  const std::string budget = kept_budget(model, command.out);
  write_file(command.out, updated.file);
  say_what_changed(command, dataset, updated, model);
  if (!budget.empty()) std::fprintf(stderr, "budget %s\n", budget.c_str());
}

}  // namespace

void add_update(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "update", "add users, items and interactions to a model file, without training");
  const auto options = std::make_shared<UpdateCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, "a model file")->required();
  command
      .add_option(
          "DATA", options->data,
          "interactions to add: a file or folder of any form that `bet fit` reads, or - for "
          "standard input")
      ->required();
  command.add_option("--out", options->out, "the model file to write; may be MODEL")->required();
  command.add_flag("--replace", options->replace,
                   "drop the interactions of MODEL: those of DATA take their place");
  command.add_option("--expire", options->expire,
                     "with --replace: leave out interactions of DATA before this date (ISO 8601) "
                     "or number, as its time column has them");
  command.callback([options] { update(*options); });
}

}  // namespace bet
