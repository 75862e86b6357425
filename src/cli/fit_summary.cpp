#include "cli/fit_summary.h"

#include <cstdio>

#include "cli/text.h"
#include "plan/budget.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const char* what, const std::string& text) {
  char start[16];
  std::snprintf(start, sizeof(start), "%-11s ", what);
  return start + text + "\n";
}

std::string quality_text(const Json& metrics) {
  char text[64];
  std::snprintf(text, sizeof(text), "recall@20 %.4f  ndcg@20 %.4f",
                metrics["recall@20"].get<double>(), metrics["ndcg@20"].get<double>());
  return text;
}

// Of a part of the report that has "bytes"; reports of earlier versions do not say the precision.
std::string bytes_text(const Json& part) {
  const std::string text = with_commas(part["bytes"]) + " bytes";
  return part.contains("precision") ? text + " in " + part["precision"].get<std::string>() : text;
}

}  // namespace

std::string budget_text(const Json& report) {
  const Json& budget = report["budget"];
  const auto requested = budget["requested"].get<std::string>();
  const std::string params = with_commas(budget["params"]);
  if (budget.value("covers_full", false)) {
    return requested + ": holds the full table of " + params + " parameters, " +
           bytes_text(budget) + "; nothing needs to be cut";
  }
  if (parse_budget(requested).in_bytes()) {
    return requested + ": at most " + bytes_text(budget) + ", enough for " + params + " parameters";
  }
  return requested + ": at most " + params + " parameters, up to " + bytes_text(budget);
}

std::string fit_summary(const Json& report, const std::filesystem::path& folder) {
  std::string text;
  if (!report["budget"].is_null()) text += line_of("budget", budget_text(report));
  const Json& used = report["used"];
  char share[48];
  std::snprintf(share, sizeof(share), " parameters (%.2f %% of the full table), ",
                100 * used["share"].get<double>());
  text += line_of("used", with_commas(used["params"]) + share + bytes_text(used));
  const std::uint64_t probed = report["trials"].size();
  if (const std::uint64_t planned = report.value("planned_trials", probed); probed < planned) {
    text += line_of("search", "cut short after " + with_commas(probed) + " of " +
                                  with_commas(planned) + " plans; to continue it: bet resume " +
                                  folder.string() + " --continue-search");
  }
  text += line_of("validation", quality_text(report["validation"]));
  if (!report["test"].is_null()) text += line_of("test", quality_text(report["test"]));
  if (report.contains("test_fp32")) {
    text += line_of("", quality_text(report["test_fp32"]) + "  as trained, before it was stored");
  }
  return text + line_of("results", folder.string());
}

}  // namespace bet
