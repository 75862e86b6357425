#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "serve/answer.h"
#include "serve/answer_options.h"
#include "serve/answer_titles.h"
#include "serve/bulk_recommend.h"
#include "serve/commands.h"
#include "serve/id_lines.h"
#include "serve/model_path.h"

namespace bet {
namespace {

struct RecommendCommand {
  std::string model;
  std::string user;
  std::vector<std::string> items;
  std::string similar_to;
  std::vector<std::string> only;
  std::string only_file;
  std::string titles;
  std::string missing = "error";
  bool all = false;
  BulkOptions bulk;
  AnswerOptions answer;
  bool json = false;
};

void print(const nlohmann::ordered_json& answer) {
  for (const auto& item : answer.value("unknown", nlohmann::ordered_json::array())) {
    std::fprintf(stderr, "bet-serve: unknown item %s is left out\n",
                 in_quotes(item.get<std::string>()).c_str());
  }
  if (answer.contains("popular")) {
    std::fprintf(stderr, "bet-serve: popular items; the scores are numbers of users\n");
  }
  for (const auto& item : answer["items"]) {
    const std::string title = item.value("title", "");
    std::printf("%-24s %.4f%s%s\n", item["item"].get<std::string>().c_str(),
                item["score"].get<double>(), title.empty() ? "" : "  ", title.c_str());
  }
}

void recommend_to_file(const ModelWithLists& served, const BulkOptions& options) {
  const BulkResult result = recommend_in_bulk(served, options);
  if (result.unknown > 0) {
    std::fprintf(stderr, "bet-serve: %zu of %zu users are unknown\n", result.unknown, result.users);
  }
}

void recommend(const RecommendCommand& command) {
  const bool is_bulk = command.all || !command.bulk.users_file.empty();
  const int kinds = (command.user.empty() ? 0 : 1) + (command.items.empty() ? 0 : 1) +
                    (command.similar_to.empty() ? 0 : 1) + (command.all ? 1 : 0) +
                    (command.bulk.users_file.empty() ? 0 : 1);
  BET_CHECK(kinds == 1, "give exactly one of --user, --items, --similar-to, --all and --users");
  BET_CHECK(is_bulk != command.bulk.out.empty(),
            "--out FILE goes with --all and --users, and they with it");
  BET_CHECK(is_bulk || (command.bulk.from == 0 && !command.bulk.to && command.bulk.threads == 0),
            "--from, --to and --threads go with --all and --users");
  BET_CHECK(command.only.empty() || command.only_file.empty(), "give either --only or --only-file");
  const ModelWithLists served = load_with_lists({model_path(command.model), {}, command.titles});
  const Model& model = *served.model;
  AnswerOptions options = command.answer;
  if (!command.only.empty() || !command.only_file.empty()) {
    options.only = command.only_file.empty() ? command.only : read_id_lines(command.only_file);
  }
  if (command.missing == "popular") options.missing = Missing::kPopular;
  if (is_bulk) {
    BulkOptions bulk = command.bulk;
    bulk.answer = options;
    return recommend_to_file(served, bulk);
  }
  const AnswerFilter filter(options, served);
  nlohmann::ordered_json answer;
  if (!command.user.empty()) {
    answer = user_answer(model, command.user, options.k, filter.get(), options.missing);
  } else if (!command.items.empty()) {
    answer = items_answer(model, command.items, options.k, filter.get(), options.missing);
  } else {
    answer = similar_answer(model, command.similar_to, options.k, filter.get());
  }
  answer = with_titles(std::move(answer), served.titles.get());
  if (command.json) {
    std::puts(json_text(answer).c_str());
  } else {
    print(answer);
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
  command.add_option("--titles", options->titles,
                     "titles of items to print beside their ids: CSV or TSV with columns id and "
                     "title");
  command.add_option("-k", options->answer.k, "how many items to print")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--only", options->only, "items to choose from; unknown ones are ignored");
  command.add_option("--only-file", options->only_file,
                     "a file with the items to choose from, one a line");
  command.add_option("--exclude", options->answer.exclude, "items that are not wanted");
  command.add_option("--min-score", options->answer.min_score, "the least score of an item");
  command.add_flag("--include-seen", options->answer.include_seen,
                   "do not leave out the items that the user had in training, or those of --items");
  command
      .add_option("--missing", options->missing,
                  "what an unknown user gets, or somebody with unknown items alone: error or "
                  "popular")
      ->check(CLI::IsMember({"error", "popular"}))
      ->capture_default_str();
  command.add_flag("--all", options->all, "answer for all users of the file, into --out");
  command.add_option("--users", options->bulk.users_file,
                     "a file with the users to answer for, one a line, into --out");
  command.add_option("--out", options->bulk.out,
                     "the file to write: .csv or .jsonl, or one of them and .zst");
  command
      .add_option("--from", options->bulk.from,
                  "the first user of --all or --users, counted from 0")
      ->capture_default_str();
  command.add_option("--to", options->bulk.to, "the user before which to end");
  command
      .add_option("--threads", options->bulk.threads,
                  "threads for --all and --users; 0: one per core")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] { recommend(*options); });
}

}  // namespace bet
