#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/resident_memory.h"
#include "runtime/load_model_file.h"
#include "serve/answer.h"
#include "serve/commands.h"
#include "serve/model_path.h"
#include "serve/table_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct VerifyCommand {
  std::string model;
  GivenBudget budget;
  std::uint32_t requests = 100;
  bool json = false;
};

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
  const std::string path = model_path(command.model);
  const std::shared_ptr<const Model> loaded = load_model_file(path);
  const Model& model = *loaded;
  const double open_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  const Model::Summary summary = model.summary();
  std::uint64_t sum = 0;
  for (const Model::Part& part : model.parts()) sum += part.bytes;
  BET_CHECK(sum == summary.file_bytes, path, ": its parts take ", sum, " bytes of ",
            summary.file_bytes);
  Json json = {{"checksums", "good"}, {"file_bytes", summary.file_bytes}};
  json.update(table_json(model));
  json["opened_bytes"] = summary.opened_bytes;
  json["budget"] = budget_json(model, path, command.budget);
  json["open_ms"] = open_ms;
  json["served"] = serve_some(model, command.requests);
  json["resident_bytes"] = peak_resident_bytes();
  return json;
}

void print_findings(const Json& json) {
  const auto number = [&](const char* key) { return json[key].get<unsigned long long>(); };
  std::printf("checksums   good\n");
  std::printf("file        %llu bytes\n", number("file_bytes"));
  std::printf("holds       %s\n", table_text(json).c_str());
  if (!json["budget"].is_null()) {
    std::printf("budget      %s\n", budget_text(json["budget"]).c_str());
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
  CLI::App& command = *app.add_subcommand(
      "verify", "check a model file and its budget, and measure what serving it takes");
  const auto options = std::make_shared<VerifyCommand>();  // owned by the parser's callback
  command.add_option("MODEL", options->model, kModelHelp)->required();
  command.add_option("--budget", options->budget.budget,
                     "check against this budget instead of the one in the file");
  command
      .add_option("--budget-for", options->budget.budget_for,
                  "file or table: what an amount of bytes is for (default: the file, or what the "
                  "file's own budget was for)")
      ->check(CLI::IsMember({"file", "table"}));
  command
      .add_option("--requests", options->requests, "requests to serve before memory is measured")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = verify(*options);
    if (options->json) {
      std::puts(json_text(json).c_str());
    } else {
      print_findings(json);
    }
    BET_CHECK(json["budget"].is_null() || json["budget"]["kept"].get<bool>(), options->model,
              ": breaks the budget ", budget_text(json["budget"]));
  });
}

}  // namespace bet
