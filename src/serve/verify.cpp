#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/resident_memory.h"
#include "plan/budget.h"
#include "serve/answer.h"
#include "serve/commands.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct VerifyCommand {
  std::string model;
  std::string budget;  // empty: the one that the file was made for
  std::uint32_t requests = 100;
  bool json = false;
};

// The promise of a budget: on parameters or on the table's bytes, whichever it was given in.
Json check_budget(const VerifyCommand& command, const Model& model) {
  const Model::Fact* const requested = model.fact("budget.requested");
  std::string text = command.budget;
  if (text.empty() && requested != nullptr) text = std::get<std::string>(*requested);
  if (text.empty()) return nullptr;
  const Model::Summary summary = model.summary();
  const Budget budget = parse_budget(text);
  const std::uint32_t tables = summary.backbone == "ncf" ? 2 : 1;  // embeddings of a row
  const TableShape shape{model.num_users(), model.num_items(), summary.max_dim, 0, tables};
  const ResolvedBudget resolved =
      resolve_budget(budget, shape, *parse_precision(summary.precision));
  // Propagated vectors are no parameters: what was trained is on record.
  std::uint64_t params = summary.params;
  const Model::Fact* const trained = model.fact("used.params");
  const bool propagated = summary.backbone == "lightgcn" || summary.backbone == "ngcf";
  if (propagated && summary.serving == "materialised" && trained != nullptr) {
    params = static_cast<std::uint64_t>(std::get<std::int64_t>(*trained));
  }
  const bool kept =
      budget.in_bytes() ? summary.table_bytes <= resolved.bytes : params <= resolved.params;
  return {{"requested", text},
          {"unit", budget.in_bytes() ? "bytes" : "parameters"},
          {"allowed", budget.in_bytes() ? resolved.bytes : resolved.params},
          {"used", budget.in_bytes() ? summary.table_bytes : params},
          {"kept", kept}};
}

Json serve_some(const Model& model, std::uint32_t requests) {
  std::vector<double> milliseconds;
  const std::uint32_t count = model.num_users() == 0 ? 0 : requests;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::uint32_t>(std::uint64_t{i} * model.num_users() / count);
    const Clock::time_point start = Clock::now();
    const auto items = model.recommend(model.user_id(row), 20);
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    BET_CHECK(items.size() <= 20, "more items than asked for");
  }
  if (milliseconds.empty()) return {{"requests", 0}};
  std::sort(milliseconds.begin(), milliseconds.end());
  return {{"requests", count},
          {"p50_ms", milliseconds[milliseconds.size() / 2]},
          {"p99_ms", milliseconds[milliseconds.size() * 99 / 100]}};
}

Json verify(const VerifyCommand& command) {
  const Clock::time_point start = Clock::now();
  const Model model = Model::open(command.model);
  const double open_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  const Model::Summary summary = model.summary();
  std::uint64_t sum = 0;
  for (const Model::Part& part : model.parts()) sum += part.bytes;
  BET_CHECK(sum == summary.file_bytes, command.model, ": its parts take ", sum, " bytes of ",
            summary.file_bytes);
  Json json = {{"checksums", "good"},
               {"file_bytes", summary.file_bytes},
               {"table_bytes", summary.table_bytes},
               {"params", summary.params},
               {"opened_bytes", summary.opened_bytes},
               {"budget", check_budget(command, model)},
               {"open_ms", open_ms},
               {"served", serve_some(model, command.requests)}};
  json["resident_bytes"] = peak_resident_bytes();
  return json;
}

void print_text(const Json& json) {
  const auto number = [&](const char* key) { return json[key].get<unsigned long long>(); };
  std::printf("checksums   good\n");
  std::printf("file        %llu bytes, of them the table %llu (%llu parameters)\n",
              number("file_bytes"), number("table_bytes"), number("params"));
  const Json& budget = json["budget"];
  if (!budget.is_null()) {
    std::printf("budget      %s: %llu %s allowed, %llu used: %s\n",
                budget["requested"].get<std::string>().c_str(),
                budget["allowed"].get<unsigned long long>(),
                budget["unit"].get<std::string>().c_str(), budget["used"].get<unsigned long long>(),
                budget["kept"].get<bool>() ? "kept" : "BROKEN");
  }
  std::printf("opened in   %.1f ms, %llu bytes of memory filled\n", json["open_ms"].get<double>(),
              number("opened_bytes"));
  const Json& served = json["served"];
  if (served["requests"].get<int>() > 0) {
    std::printf("served      %d requests, p50 %.2f ms, p99 %.2f ms\n",
                served["requests"].get<int>(), served["p50_ms"].get<double>(),
                served["p99_ms"].get<double>());
  }
  std::printf("resident    %llu bytes at most, the program and the file included\n",
              number("resident_bytes"));
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("verify", "check a model file, its budget, and what serving it takes");
  const auto options = std::make_shared<VerifyCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, "a model file")->required();
  command.add_option("--budget", options->budget, "another budget than the file's own");
  command.add_option("--requests", options->requests, "requests served before memory is measured")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = verify(*options);
    if (options->json) {
      std::puts(json_text(json).c_str());
    } else {
      print_text(json);
    }
    BET_CHECK(json["budget"].is_null() || json["budget"]["kept"].get<bool>(), options->model,
              ": breaks its budget ", json_text(json["budget"]));
  });
}

}  // namespace bet
