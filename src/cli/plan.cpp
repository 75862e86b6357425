#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/backbone_traits.h"
#include "base/precision_text.h"
#include "base/with_commas.h"
#include "cli/commands.h"
#include "cli/fit_summary.h"
#include "cli/option_parser.h"
#include "run/plan_preview.h"
#include "run/report_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct PlanCommand {
  PlanPreviewJob job;
  std::string budget;
  std::string budget_for;
  std::string method = "search";
  bool json = false;
};

PreviewKind kind_of(const std::string& method) {
  if (method == "es") return PreviewKind::kEqual;
  if (method == "mr") return PreviewKind::kRandom;
  return method == "sample" ? PreviewKind::kSample : PreviewKind::kSearch;
}

Json histogram(std::span<const std::uint32_t> counts) {
  Json json = Json::object();
  for (std::size_t size = 0; size < counts.size(); ++size) {
    if (counts[size] > 0) json[std::to_string(size)] = counts[size];
  }
  return json;
}

Json origin_json(const PlanOrigin& origin) {
  return {{"user_share", origin.user_share},
          {"user_family", family_name(origin.user_family)},
          {"user_shape", origin.user_shape},
          {"item_family", family_name(origin.item_family)},
          {"item_shape", origin.item_shape}};
}

Json used_json(const SizePlan& plan) {
  return {{"params", plan.num_params()},
          {"bytes", plan.stored_bytes()},
          {"precision", precision_text(plan.precision())},
          {"form", form_name(plan.form())}};
}

Json preview_json(const PlanCommand& command, const PlanPreview& preview) {
  const PlanPreviewJob& job = command.job;
  const SizePlan& first = preview.plans.at(0).plan;
  Json json = {
      {"method", command.method},
      {"seed", job.seed},
      {"budget",
       {{"requested", job.budget.text},
        {"for", target_name(preview.allowed.target)},
        {"params", preview.allowed.params},
        {"bytes", preview.allowed.bytes},
        {"table_bytes", preview.allowed.table_bytes},
        {"precision", preview.allowed.precision ? Json(precision_name(*preview.allowed.precision))
                                                : Json("auto")},
        {"covers_full", preview.allowed.covers_full}}},
      {"used", used_json(first)},
      {"full",
       {{"params", preview.shape.full_params()},
        {"bytes", table_bytes(preview.shape.full_params(), preview.shape, Precision::kFloat32)}}},
      {"origin", nullptr},
      {"user_sizes", histogram(first.user_counts())},
      {"item_sizes", histogram(first.item_counts())}};
  if (job.kind == PreviewKind::kSample) json["origin"] = origin_json(preview.plans[0].origin);
  if (job.kind != PreviewKind::kSearch) return json;
  json["plans"] = Json::array();
  for (const SampledPlan& one : preview.plans) {
    json["plans"].push_back({{"user_share", one.origin.user_share},
                             {"used", used_json(one.plan)},
                             {"user_sizes", histogram(one.plan.user_counts())},
                             {"item_sizes", histogram(one.plan.item_counts())}});
  }
  return json;
}

// "6 to 7", "6": the sizes that rows have.
std::string range_text(std::span<const std::uint32_t> counts) {
  std::size_t first = counts.size();
  std::size_t last = 0;
  for (std::size_t size = 0; size < counts.size(); ++size) {
    if (counts[size] == 0) continue;
    first = std::min(first, size);
    last = size;
  }
  if (first == counts.size()) return "";
  return first == last ? std::to_string(first)
                       : std::to_string(first) + " to " + std::to_string(last);
}

void print_rules(const PlanPreview& preview) {
  std::printf(
      "`bet fit` begins with these plans, which are simple rules, then draws others and "
      "trains the better ones longer:\n");
  std::printf("  %14s  %15s  %15s  %s\n", "users' share", "size of a user", "size of an item",
              "precision");
  for (const auto& [plan, origin] : preview.plans) {
    std::printf("  %12.1f %%  %15s  %15s  %s%s\n", 100.0 * origin.user_share,
                range_text(plan.user_counts()).c_str(), range_text(plan.item_counts()).c_str(),
                precision_text(plan.precision()).c_str(),
                plan.form() == StoredForm::kVectors ? ", vectors without a graph" : "");
  }
}

// Rows per range of sizes, as bars.
void print_sizes(const char* side, std::span<const std::uint32_t> counts_by_size) {
  constexpr std::array<std::size_t, 9> kEdges = {0, 1, 2, 4, 8, 16, 32, 64, 0xffff + 1};
  std::array<std::uint64_t, kEdges.size() - 1> counts{};
  std::uint64_t most = 1;
  for (std::size_t size = 0; size < counts_by_size.size(); ++size) {
    std::size_t range = 0;
    while (size >= kEdges[range + 1]) ++range;
    counts[range] += counts_by_size[size];
    most = std::max(most, counts[range]);
  }
  std::printf("%s by size\n", side);
  for (std::size_t range = 0; range < counts.size(); ++range) {
    if (counts[range] == 0) continue;
    const std::size_t last = kEdges[range + 1] - 1;
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

void print_params(const char* what, const SizePlan& plan) {
  std::printf("%-7s %s parameters, %s bytes in %s\n", what, with_commas(plan.num_params()).c_str(),
              with_commas(plan.stored_bytes()).c_str(), precision_text(plan.precision()).c_str());
}

void print_text(const PlanPreviewJob& job, const PlanPreview& preview) {
  std::printf("budget  %s\n", budget_text(preview.allowed).c_str());
  print_params("full", full_plan(preview.shape));
  if (job.kind == PreviewKind::kSearch) return print_rules(preview);
  const auto& [plan, origin] = preview.plans.at(0);
  print_params("used", plan);
  if (job.kind == PreviewKind::kSample) {
    std::printf(
        "drawn   at random (seed %llu), as the search draws its candidates: %.1f %% of the budget "
        "to users; users %s (shape %.3f), items %s (shape %.3f)\n",
        static_cast<unsigned long long>(job.seed), 100.0 * origin.user_share,
        std::string(family_name(origin.user_family)).c_str(), origin.user_shape,
        std::string(family_name(origin.item_family)).c_str(), origin.item_shape);
  }
  print_sizes("users", plan.user_counts());
  print_sizes("items", plan.item_counts());
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("plan", "show what a budget means, without training");
  const auto options = std::make_shared<PlanCommand>();  // owned by the parser's callback
  add_options(command, data_option_table(), options->job.data);
  command.add_option("--budget", options->budget, "5%, 450000p, 1.8MB, 2MiB or 5%B")->required();
  command
      .add_option("--budget-for", options->budget_for,
                  "file or table: what an amount of bytes is for (default file)")
      ->check(CLI::IsMember({"file", "table"}));
  command
      .add_option(
          "--method", options->method,
          "search (the plans that `bet fit` begins with), es (equal sizes), mr (mixed random) or "
          "sample (one drawn at random, as the search draws; no row empty)")
      ->check(CLI::IsMember({"search", "es", "mr", "sample"}))
      ->capture_default_str();
  command.add_option("--dim", options->job.dim, "full embedding size")
      ->check(CLI::Range(1U, largest_dim(1)))
      ->capture_default_str();
  command.add_option("--seed", options->job.seed, "seed of mr and sample")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    options->job.budget = parse_budget(options->budget);
    if (!options->budget_for.empty()) {
      options->job.budget_for =
          options->budget_for == "file" ? BudgetFor::kFile : BudgetFor::kTable;
    }
    options->job.kind = kind_of(options->method);
    const PlanPreview preview = preview_plans(options->job);
    if (options->json) {
      std::puts(json_text(preview_json(*options, preview)).c_str());
    } else {
      print_text(options->job, preview);
    }
  });
}

}  // namespace bet
