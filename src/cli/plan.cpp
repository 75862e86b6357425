#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/data_options.h"
#include "cli/fit_options.h"
#include "cli/fit_summary.h"
#include "cli/report.h"
#include "cli/text.h"
#include "search/candidate_selection.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct PlanCommand {
  DataOptions data;
  std::string budget;
  std::string method = "search";
  std::uint32_t dim = 128;
  std::uint64_t seed = 1;
  bool json = false;
};

Json histogram(std::span<const std::uint32_t> counts) {
  Json json = Json::object();
  for (std::size_t size = 0; size < counts.size(); ++size) {
    if (counts[size] > 0) json[std::to_string(size)] = counts[size];
  }
  return json;
}

// The plans to show: one, or those that a search begins with, which are rules.
std::vector<SampledPlan> make_plans(const PlanCommand& options, const TableShape& shape,
                                    std::uint64_t params, const Split& split) {
  if (options.method == "es") return {{equal_plan(shape, params), {}}};
  if (options.method == "mr") return {{mixed_random_plan(shape, params, options.seed), {}}};
  const Frequencies frequencies = train_frequencies(split);
  const PlanSampler sampler(shape, params, frequencies.users, frequencies.items);
  if (options.method == "sample") return {sampler.draw(options.seed, 0)};
  FitCommand fit;
  fit.budget = options.budget;
  const SearchOptions search = fit.resolve_search().options;
  std::vector<SampledPlan> plans = rule_plans(sampler, shape);
  const auto is_first = [&](std::size_t place) {
    return strategy_of(static_cast<std::uint32_t>(place) + 1, search.selection,
                       search.num_iterations, plans.size()) == Strategy::kRule;
  };
  std::size_t count = 0;
  while (count < plans.size() && is_first(count)) ++count;
  plans.erase(plans.begin() + static_cast<std::ptrdiff_t>(count), plans.end());
  return plans;
}

Json origin_json(const PlanOrigin& origin) {
  return {{"user_share", origin.user_share},
          {"user_family", family_name(origin.user_family)},
          {"user_shape", origin.user_shape},
          {"item_family", family_name(origin.item_family)},
          {"item_shape", origin.item_shape}};
}

Json used_json(const SizePlan& plan) {
  return {{"params", plan.num_params()}, {"bytes", plan.stored_bytes(Precision::kFloat32)}};
}

Json run(const PlanCommand& options) {
  const Budget budget = parse_budget(options.budget);
  Dataset dataset = options.data.load();
  TableShape shape{dataset.num_users(), dataset.num_items(), options.dim};
  const bool is_search = options.method == "search";
  if (is_search) shape.min_dim = FitCommand().least_dim();
  const ResolvedBudget resolved = resolve_budget(budget, shape);
  const Split split = options.data.split_of(dataset);
  const std::vector<SampledPlan> plans = make_plans(options, shape, resolved.params, split);
  const SizePlan& first = plans.at(0).plan;
  Json json = {{"method", options.method},
               {"seed", options.seed},
               {"budget",
                {{"requested", budget.text},
                 {"params", resolved.params},
                 {"bytes", resolved.bytes},
                 {"precision", precision_name(Precision::kFloat32)},
                 {"covers_full", resolved.covers_full}}},
               {"used", used_json(first)},
               {"full",
                {{"params", shape.full_params()},
                 {"bytes", table_bytes(shape.full_params(), shape, Precision::kFloat32)}}},
               {"origin", nullptr},
               {"user_sizes", histogram(first.user_counts())},
               {"item_sizes", histogram(first.item_counts())}};
  if (options.method == "sample") json["origin"] = origin_json(plans[0].origin);
  if (!is_search) return json;
  json["plans"] = Json::array();
  for (const SampledPlan& one : plans) {
    json["plans"].push_back({{"user_share", one.origin.user_share},
                             {"used", used_json(one.plan)},
                             {"user_sizes", histogram(one.plan.user_counts())},
                             {"item_sizes", histogram(one.plan.item_counts())}});
  }
  return json;
}

// "6 to 7", "6": the sizes of a histogram, which ascend.
std::string range_text(const Json& histogram) {
  std::string first;
  std::string last;
  for (const auto& [size, count] : histogram.items()) {
    if (first.empty()) first = size;
    last = size;
  }
  return first == last ? first : first + " to " + last;
}

void print_rules(const Json& json) {
  std::printf(
      "`bet fit` begins with these plans, which are simple rules, then probes others that it draws "
      "and learns which are good:\n");
  std::printf("  %14s  %15s  %15s\n", "users' share", "size of a user", "size of an item");
  for (const Json& plan : json["plans"]) {
    std::printf("  %12.1f %%  %15s  %15s\n", 100.0 * plan["user_share"].get<double>(),
                range_text(plan["user_sizes"]).c_str(), range_text(plan["item_sizes"]).c_str());
  }
}

// Rows per range of sizes, as bars.
void print_sizes(const char* side, const Json& histogram) {
  constexpr std::array<std::uint64_t, 9> kEdges = {0, 1, 2, 4, 8, 16, 32, 64, 0xffff + 1};
  std::array<std::uint64_t, kEdges.size() - 1> counts{};
  std::uint64_t most = 1;
  for (const auto& [size, count] : histogram.items()) {
    std::size_t range = 0;
    while (std::stoull(size) >= kEdges[range + 1]) ++range;
    counts[range] += count.get<std::uint64_t>();
    most = std::max(most, counts[range]);
  }
  std::printf("%s by size\n", side);
  for (std::size_t range = 0; range < counts.size(); ++range) {
    if (counts[range] == 0) continue;
    const std::uint64_t last = kEdges[range + 1] - 1;
    std::string name = std::to_string(kEdges[range]);
    if (range + 1 == counts.size()) {
      name += "-";
    } else if (last > kEdges[range]) {
      name += "-" + std::to_string(last);
    }
    const auto bar = static_cast<std::size_t>(40 * counts[range] / most);
    std::printf("  %-6s %8s %s\n", name.c_str(), with_commas(counts[range]).c_str(),
                std::string(bar, '#').c_str());
  }
}

void print_text(const Json& json) {
  std::printf("budget  %s\n", budget_text(json).c_str());
  std::printf("full    %s parameters, %s bytes in fp32\n",
              with_commas(json["full"]["params"]).c_str(),
              with_commas(json["full"]["bytes"]).c_str());
  if (json.contains("plans")) {
    print_rules(json);
    return;
  }
  std::printf("used    %s parameters, %s bytes in fp32\n",
              with_commas(json["used"]["params"]).c_str(),
              with_commas(json["used"]["bytes"]).c_str());
  const Json& origin = json["origin"];
  if (!origin.is_null()) {
    std::printf(
        "drawn   at random (seed %s), as the search draws its candidates: %.1f %% of the budget to "
        "users; users %s (shape %.3f), items %s (shape %.3f)\n",
        json["seed"].dump().c_str(), 100.0 * origin["user_share"].get<double>(),
        origin["user_family"].get<std::string>().c_str(), origin["user_shape"].get<double>(),
        origin["item_family"].get<std::string>().c_str(), origin["item_shape"].get<double>());
  }
  print_sizes("users", json["user_sizes"]);
  print_sizes("items", json["item_sizes"]);
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("plan", "show what a budget means, without training");
  const auto options = std::make_shared<PlanCommand>();  // owned by the parser's callback
  options->data.add_to(command);
  command.add_option("--budget", options->budget, "5%, 450000p, 1.8MB or 2MiB")->required();
  command
      .add_option(
          "--method", options->method,
          "search (the plans that `bet fit` begins with), es (equal sizes), mr (mixed random) or "
          "sample (one drawn at random, as the search draws; no row empty)")
      ->check(CLI::IsMember({"search", "es", "mr", "sample"}))
      ->capture_default_str();
  command.add_option("--dim", options->dim, "full embedding size")
      ->check(CLI::Range(1, 0xffff))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "seed of mr and sample")->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = run(*options);
    if (options->json) {
      std::puts(json_text(json).c_str());
    } else {
      print_text(json);
    }
  });
}

}  // namespace bet
