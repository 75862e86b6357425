#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/load_model_file.h"
#include "serve/answer.h"
#include "serve/commands.h"
#include "serve/model_path.h"

namespace bet {
namespace {

struct RecommendCommand {
  std::string model;
  std::string user;
  std::vector<std::string> items;
  std::string similar_to;
  std::size_t k = 10;
  bool with_seen = false;
  bool json = false;
};

void recommend(const RecommendCommand& command) {
  const int kinds = (command.user.empty() ? 0 : 1) + (command.items.empty() ? 0 : 1) +
                    (command.similar_to.empty() ? 0 : 1);
  BET_CHECK(kinds == 1, "give exactly one of --user, --items and --similar-to");
  const std::shared_ptr<const Model> loaded = load_model_file(model_path(command.model));
  const Model& model = *loaded;
  nlohmann::ordered_json answer;
  if (!command.user.empty()) {
    answer = user_answer(model, command.user, command.k,
                         command.with_seen ? Model::Seen::kKeep : Model::Seen::kLeaveOut);
  } else if (!command.items.empty()) {
    answer = items_answer(model, command.items, command.k);
  } else {
    answer = similar_answer(model, command.similar_to, command.k);
  }
  if (command.json) {
    std::puts(json_text(answer).c_str());
    return;
  }
  for (const auto& item : answer.value("unknown", nlohmann::ordered_json::array())) {
    std::fprintf(stderr, "bet-serve: unknown item %s is left out\n",
                 in_quotes(item.get<std::string>()).c_str());
  }
  for (const auto& item : answer["items"]) {
    std::printf("%-24s %.4f\n", item["item"].get<std::string>().c_str(),
                item["score"].get<double>());
  }
}

}  // namespace

void add_recommend(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("recommend", "print the best items for a user");
  const auto options = std::make_shared<RecommendCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, kModelHelp)->required();
  command.add_option("--user", options->user, "a user in the model file");
  command.add_option("--items", options->items, "items that a user who is not in the file has");
  command.add_option("--similar-to", options->similar_to,
                     "an item, to get the items most similar to it");
  command.add_option("-k", options->k, "how many items to print")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_flag("--with-seen", options->with_seen,
                   "do not leave out the items that the user had in training");
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] { recommend(*options); });
}

}  // namespace bet
