#include "cli/fit_summary.h"

#include <algorithm>
#include <cstdio>

#include "base/precision_text.h"
#include "base/run_files.h"
#include "base/with_commas.h"
#include "cli/outcome_table.h"
#include "cli/size_histogram.h"

namespace bet {
namespace {

std::string line_of(const char* what, const std::string& text) {
  char start[16];
  std::snprintf(start, sizeof(start), "%-11s ", what);
  return start + text + "\n";
}

std::string quality_text(const Metrics& metrics) {
  char text[64];
  std::snprintf(text, sizeof(text), "recall@20 %.4f  ndcg@20 %.4f", metrics.recall[2],
                metrics.ndcg[2]);
  return text;
}

std::string bytes_text(std::uint64_t bytes, const std::optional<TablePrecision>& precision) {
  const std::string text = with_commas(bytes) + " bytes";
  return precision ? text + " in " + precision_text(*precision) : text;
}

// "item rows 58 %, interactions 23 %, .., other 1 %": the largest first.
std::string sections_text(std::vector<RunDetails::Section> sections) {
  constexpr std::size_t kNamed = 5;
  std::ranges::stable_sort(sections, std::greater<>(), &RunDetails::Section::bytes);
  std::uint64_t total = 0;
  for (const RunDetails::Section& section : sections) total += section.bytes;
  if (sections.size() > kNamed + 1) {
    RunDetails::Section other = {"other", 0};
    for (std::size_t i = kNamed; i < sections.size(); ++i) other.bytes += sections[i].bytes;
    sections.resize(kNamed);
    sections.push_back(other);
  }
  std::string text;
  for (const RunDetails::Section& section : sections) {
    char share[16];
    std::snprintf(share, sizeof(share), " %.1f %%",
                  100 * static_cast<double>(section.bytes) / static_cast<double>(total));
    text += (text.empty() ? "" : ", ") + section.name + share;
  }
  return text;
}

}  // namespace

std::string budget_text(const ResolvedBudget& budget) {
  const std::string params = with_commas(budget.params) + " parameters";
  const std::string bytes = bytes_text(budget.bytes, budget.precision);
  const std::string requested = budget.requested.text + ": ";
  if (budget.covers_full) {
    return requested + "holds the full table of " + params + ", " + bytes +
           "; nothing needs to be cut";
  }
  if (budget.target == BudgetFor::kFile) {
    return requested + "at most " + with_commas(budget.bytes) + " bytes for the file, " +
           bytes_text(budget.table_bytes, budget.precision) +
           " of them for the table, enough for " + params +
           (budget.precision ? "" : " in " + precision_text(kUsualLowPrecision));
  }
  if (budget.requested.in_bytes()) {
    return requested + "at most " + bytes + ", enough for " + params +
           (budget.precision ? "" : " in " + precision_text(kUsualLowPrecision));
  }
  return requested + "at most " + params + ", up to " + bytes;
}

std::string fit_summary(const FitReport& report, const std::filesystem::path& folder) {
  std::string text;
  if (report.budget) text += line_of("budget", budget_text(*report.budget));
  char share[48];
  std::snprintf(share, sizeof(share), " parameters (%.2f %% of the full table), ",
                100 * report.used.share);
  text += line_of("used", with_commas(report.used.params) + share +
                              bytes_text(report.used.bytes, report.used.precision));
  if (const auto& file = report.used.file) {
    text += line_of("serving",
                    (file->serving == "graph" ? "table and graph" : "vectors") +
                        std::string(file->with_seen ? "" : ", without the items that users have"));
  }
  if (report.loss) text += line_of("loss", loss_text(report.loss->chosen));
  const std::uint64_t probed = report.trials.size();
  if (const std::uint64_t planned = report.planned_trials.value_or(probed); probed < planned) {
    text += line_of("search", "cut short after " + with_commas(probed) + " of " +
                                  with_commas(planned) + " trainings; to continue it: bet resume " +
                                  folder.string() + " --continue-search");
  }
  text += "\n" + outcome_table(report) + "\n";
  if (report.as_trained) {
    text +=
        line_of("as trained", quality_text(*report.as_trained) + " on test, before it was stored");
  }
  const RunDetails& details = report.details;
  if (!details.sections.empty()) {
    text += line_of(
        "file", with_commas(report.used.file_bytes) + " bytes: " + sections_text(details.sections));
  }
  if (details.sizes) {
    text += line_of("users", size_histogram(details.sizes->users.counts));
    text += line_of("items", size_histogram(details.sizes->items.counts));
  }
  text += line_of("report", RunFiles{folder}.page().string());
  text += line_of("serve", "bet-serve http " + folder.string() + " --port 8080");
  return text + line_of("results", folder.string());
}

}  // namespace bet
