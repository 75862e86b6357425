#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "serve/answer.h"
#include "serve/commands.h"

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
  BET_CHECK(kinds == 1, "give one of --user, --items and --similar-to");
  const Model model = Model::open(command.model);
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
  for (const auto& item : answer["items"]) {
    std::printf("%-24s %.4f\n", item["item"].get<std::string>().c_str(),
                item["score"].get<double>());
  }
}

}  // namespace

void add_recommend(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("recommend", "the best items for a user");
  const auto options = std::make_shared<RecommendCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, "a model file")->required();
  command.add_option("--user", options->user, "a user of the file");
  command.add_option("--items", options->items, "items of somebody who is not in the file");
  command.add_option("--similar-to", options->similar_to, "an item: the ones most like it");
  command.add_option("-k", options->k, "how many")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_flag("--with-seen", options->with_seen, "keep what the user has had");
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] { recommend(*options); });
}

}  // namespace bet
