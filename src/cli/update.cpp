#include "bet/update.h"

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/files.h"
#include "base/with_commas.h"
#include "bet/model.h"
#include "cli/commands.h"
#include "data/load.h"

namespace bet {
namespace {

struct UpdateCommand {
  std::string model;
  std::string data;
  std::string out;
};

std::vector<std::string> names_of(const IdTable& ids) {
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (std::uint32_t index = 0; index < ids.size(); ++index) names.push_back(ids.name(index));
  return names;
}

// A budget for the whole file was kept by the file before; what is added may be too much for it.
void note_budget(const std::string& file, const std::string& path) {
  const Model model = Model::from_bytes(std::as_bytes(std::span(file)), Verify::kStructure);
  const Model::Fact* const target = model.fact("budget.for");
  const Model::Fact* const bytes = model.fact("budget.bytes");
  if (target == nullptr || *target != Model::Fact("file") || bytes == nullptr) return;
  const auto* const allowed = std::get_if<std::int64_t>(bytes);
  if (allowed == nullptr || static_cast<std::int64_t>(file.size()) <= *allowed) return;
  std::fprintf(stderr, "%s: is larger than the %s bytes of the budget that it was made for\n",
               path.c_str(), with_commas(static_cast<std::uint64_t>(*allowed)).c_str());
}

void update(const UpdateCommand& command) {
  const Dataset dataset = load_dataset(command.data);
  const std::vector<std::string> users = names_of(dataset.users);
  const std::vector<std::string> items = names_of(dataset.items);
  std::vector<NewInteraction> interactions;
  interactions.reserve(dataset.num_interactions());
  for (std::uint32_t user = 0; user < dataset.num_users(); ++user) {
    for (const ItemId item : dataset.interactions.row(user)) {
      interactions.push_back({users[user], items[item]});
    }
  }
  const UpdatedModel updated = update_model_file(command.model, interactions);
  write_file(command.out, updated.file);
  note_budget(updated.file, command.out);
  std::fprintf(stderr,
               "%s: %s new interactions (%s were known), %s new users and %s new items; %s bytes, "
               "of the table %s as before\n",
               command.out.c_str(), with_commas(updated.new_interactions).c_str(),
               with_commas(updated.known_interactions).c_str(),
               with_commas(updated.new_users).c_str(), with_commas(updated.new_items).c_str(),
               with_commas(updated.file.size()).c_str(), with_commas(updated.table_bytes).c_str());
}

}  // namespace

void add_update(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "update", "add users, items and interactions to a model file by graph, without training");
  const auto options = std::make_shared<UpdateCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, "a model file by graph")->required();
  command
      .add_option(
          "DATA", options->data,
          "interactions to add: a file or folder of any form that `bet fit` reads, or - for "
          "standard input")
      ->required();
  command.add_option("--out", options->out, "the model file to write; may be MODEL")->required();
  command.callback([options] { update(*options); });
}

}  // namespace bet
