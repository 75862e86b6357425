#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/data_options.h"
#include "cli/text.h"
#include "plan/plan_sampler.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct PlanCommand {
  DataOptions data;
  std::string budget;
  std::string method = "sample";
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

struct Planned {
  SizePlan plan;
  Json origin;  // null unless sampled
};

Planned make_plan(const PlanCommand& options, const TableShape& shape, std::uint64_t params,
                  const Split& split) {
  if (options.method == "es") return {equal_plan(shape, params), nullptr};
  if (options.method == "mr") return {mixed_random_plan(shape, params, options.seed), nullptr};
  const Frequencies frequencies = train_frequencies(split);
  const PlanSampler sampler(shape, params, frequencies.users, frequencies.items);
  const SampledPlan sampled = sampler.draw(options.seed, 0);
  return {sampled.plan,
          {{"user_share", sampled.origin.user_share},
           {"user_family", family_name(sampled.origin.user_family)},
           {"user_shape", sampled.origin.user_shape},
           {"item_family", family_name(sampled.origin.item_family)},
           {"item_shape", sampled.origin.item_shape}}};
}

Json run(const PlanCommand& options) {
  const Budget budget = parse_budget(options.budget);
  Dataset dataset = options.data.load();
  const TableShape shape{dataset.num_users(), dataset.num_items(), options.dim};
  const ResolvedBudget resolved = resolve_budget(budget, shape);
  const Split split = options.data.split_of(dataset);
  const Planned planned = make_plan(options, shape, resolved.params, split);
  const std::uint64_t used = planned.plan.num_params();
  return {{"method", options.method},
          {"seed", options.seed},
          {"budget",
           {{"requested", budget.text}, {"params", resolved.params}, {"bytes", resolved.bytes}}},
          {"used", {{"params", used}, {"bytes", planned.plan.stored_bytes(Precision::kFloat32)}}},
          {"full",
           {{"params", shape.full_params()},
            {"bytes", table_bytes(shape.full_params(), shape, Precision::kFloat32)}}},
          {"origin", planned.origin},
          {"user_sizes", histogram(planned.plan.user_counts())},
          {"item_sizes", histogram(planned.plan.item_counts())}};
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
  std::printf("budget  %s: %s parameters, %s bytes\n",
              json["budget"]["requested"].get<std::string>().c_str(),
              with_commas(json["budget"]["params"]).c_str(),
              with_commas(json["budget"]["bytes"]).c_str());
  std::printf(
      "used    %s parameters, %s bytes; the full table has %s and %s\n",
      with_commas(json["used"]["params"]).c_str(), with_commas(json["used"]["bytes"]).c_str(),
      with_commas(json["full"]["params"]).c_str(), with_commas(json["full"]["bytes"]).c_str());
  const Json& origin = json["origin"];
  if (!origin.is_null()) {
    std::printf(
        "drawn   %.1f %% to users; users %s (shape %.3f), items %s (shape %.3f)\n",
        100.0 * origin["user_share"].get<double>(),
        origin["user_family"].get<std::string>().c_str(), origin["user_shape"].get<double>(),
        origin["item_family"].get<std::string>().c_str(), origin["item_shape"].get<double>());
  }
  print_sizes("users", json["user_sizes"]);
  print_sizes("items", json["item_sizes"]);
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("plan", "show a size plan that fits a budget");
  const auto options = std::make_shared<PlanCommand>();  // owned by the parser's callback
  options->data.add_to(command);
  command.add_option("--budget", options->budget, "5%, 450000p, 1.8MB or 2MiB")->required();
  command
      .add_option(
          "--method", options->method,
          "es (equal sizes), mr (mixed random) or sample (drawn as the search draws, no row empty)")
      ->check(CLI::IsMember({"es", "mr", "sample"}))
      ->capture_default_str();
  command.add_option("--dim", options->dim, "full embedding size")
      ->check(CLI::Range(1, 0xffff))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "seed of the plan")->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = run(*options);
    if (options->json) {
      std::puts(json.dump().c_str());
    } else {
      print_text(json);
    }
  });
}

}  // namespace bet
