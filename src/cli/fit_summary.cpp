#include "cli/fit_summary.h"

#include <cstdio>

#include "base/precision_text.h"
#include "base/with_commas.h"

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

}  // namespace

std::string budget_text(const ResolvedBudget& budget) {
  const std::string params = with_commas(budget.params) + " parameters";
  const std::string bytes = bytes_text(budget.bytes, budget.precision);
  const std::string requested = budget.requested.text + ": ";
  if (budget.covers_full) {
    return requested + "holds the full table of " + params + ", " + bytes +
           "; nothing needs to be cut";
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
  if (report.loss) text += line_of("loss", loss_text(report.loss->chosen));
  const std::uint64_t probed = report.trials.size();
  if (const std::uint64_t planned = report.planned_trials.value_or(probed); probed < planned) {
    text += line_of("search", "cut short after " + with_commas(probed) + " of " +
                                  with_commas(planned) + " trainings; to continue it: bet resume " +
                                  folder.string() + " --continue-search");
  }
  text += line_of("validation", quality_text(report.validation));
  if (report.test.num_users > 0) text += line_of("test", quality_text(report.test));
  if (report.as_trained) {
    text += line_of("", quality_text(*report.as_trained) + "  as trained, before it was stored");
  }
  return text + line_of("results", folder.string());
}

}  // namespace bet
