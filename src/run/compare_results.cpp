#include "run/compare_results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/error.h"
#include "base/option.h"
#include "base/precision_text.h"
#include "base/with_commas.h"
#include "run/csv_line.h"
#include "run/report_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

void add_metrics(const std::string& part, const Metrics& metrics, CsvFields& fields) {
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
    const std::string cutoff = "@" + std::to_string(kCutoffs[i]);
    const auto text = [&](double value) {
      return metrics.num_users > 0 ? shortest_text(value) : std::string();
    };
    fields.emplace_back(str_cat(part, "_recall", cutoff), text(metrics.recall[i]));
    fields.emplace_back(str_cat(part, "_ndcg", cutoff), text(metrics.ndcg[i]));
  }
}

CsvFields fields_of(const ComparedRun& run) {
  const FitReport& report = *run.report;
  const auto& used = report.used;
  CsvFields fields = {{"data", report.data.name},
                      {"data_hash", report.data.hash},
                      {"backbone", report.backbone},
                      {"method", report.method},
                      {"variant", run.variant},
                      {"budget", report.budget ? report.budget->requested.text : ""},
                      {"precision", used.precision ? precision_text(*used.precision) : ""},
                      {"seed", std::to_string(report.seed)},
                      {"params", std::to_string(used.params)},
                      {"share", shortest_text(used.share)},
                      {"bytes", std::to_string(used.bytes)},
                      {"file_bytes", std::to_string(used.file_bytes)}};
  add_metrics("validation", report.validation, fields);
  add_metrics("test", report.test, fields);
  const std::uint64_t steps = report.steps.pretrain + report.steps.search + report.steps.train +
                              report.steps.final_training;
  fields.insert(fields.end(),
                {{"trainings", std::to_string(report.trainings.search + report.trainings.retrain)},
                 {"steps", std::to_string(steps)},
                 {"seconds", shortest_text(report.seconds.total)},
                 {"device", report.device},
                 {"version", report.versions.bet},
                 {"commit", report.versions.commit}});
  return fields;
}

std::string whole_text(double value) {
  return with_commas(static_cast<std::uint64_t>(std::llround(value)));
}

std::string spread_cell(const Spread& spread) {
  return quality_text(spread.mean, spread.deviation);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// "bet, m20": the method and what sets it apart.
std::string name_of(const RunGroup& group) {
  return group.method + (group.variant.empty() ? "" : ", " + group.variant);
}

template <typename Value>
bool differ(std::span<const RunGroup> groups, const Value& value_of) {
  std::set<std::string> values;
  for (const RunGroup& group : groups) values.insert(value_of(group));
  return values.size() > 1;
}

// What each figure of pairs_table() is.
void add_definitions(std::size_t num_tests, std::vector<std::string>& notes) {
  notes.emplace_back(
      "difference: mean over the users with test items of the first method's value minus the "
      "other's, in percent of the other's mean; a user's value is the mean over the seeds that "
      "both have.");
  notes.push_back("95 % interval: of that difference, by a percentile bootstrap over users (" +
                  with_commas(kResamples) + " resamples, seeded).");
  notes.emplace_back(
      "Cohen's d: that difference in units of its standard deviation over users; about 0.2 is "
      "called small, 0.5 medium, 0.8 large.");
  notes.push_back(
      "p: two-sided paired t-test over users. p (Holm): corrected for all " +
      with_commas(num_tests) +
      " tests of this table. With thousands of users nearly every difference is significant, also "
      "one that another seed would turn: read the size and the seeds first.");
  notes.emplace_back(
      "over seeds: mean and standard deviation of the difference by seed. better: seeds in which "
      "the first method was better.");
}

}  // namespace

std::string results_csv(std::span<const ComparedRun> runs) {
  std::vector<CsvFields> lines;
  for (const ComparedRun& run : runs) {
    if (run.report) lines.push_back(fields_of(run));
  }
  return csv_text(lines);
}

ResultTable cells_table(std::span<const RunGroup> groups) {
  const bool with_data = differ(groups, [](const RunGroup& group) { return group.data; });
  ResultTable table;
  if (with_data) table.columns.emplace_back("data");
  table.columns.insert(table.columns.end(),
                       {"backbone", "method", "budget", "runs", "table bytes", "file bytes",
                        "validation R@20", "test R@20", "test N@20"});
  for (const RunGroup& group : groups) {
    std::vector<std::string>& row = table.rows.emplace_back();
    if (with_data) row.push_back(group.data);
    row.insert(row.end(),
               {group.backbone, name_of(group), or_dash(group.budget),
                std::to_string(group.runs.size()), whole_text(group.mean_bytes()),
                whole_text(group.mean_file_bytes()), spread_cell(group.validation(kRecall20)),
                spread_cell(group.test(kRecall20)), spread_cell(group.test(kNdcg20))});
  }
  return table;
}

std::vector<std::pair<const RunGroup*, const RunGroup*>> method_against_others(
    const std::string& method, std::span<const RunGroup> groups) {
  std::vector<std::pair<const RunGroup*, const RunGroup*>> pairs;
  for (const RunGroup& one : groups) {
    if (one.method != method) continue;
    for (const RunGroup& other : groups) {
      const bool alike = other.backbone == one.backbone && other.method != one.method;
      const bool comparable =
          other.budget == one.budget || other.budget.empty() || one.budget.empty();
      if (alike && comparable) pairs.emplace_back(&one, &other);
    }
  }
  return pairs;
}

ResultTable pairs_table(std::span<const RunPair> pairs) {
  std::vector<RunGroup> firsts;
  for (const RunPair& pair : pairs) firsts.push_back(*pair.one);
  const bool with_data = differ(firsts, [](const RunGroup& group) { return group.data; });
  ResultTable table;
  table.columns = {"compared",  "budget", "metric",   "difference", "95 % interval",
                   "Cohen's d", "p",      "p (Holm)", "over seeds", "better"};
  for (const RunPair& pair : pairs) {
    const auto percent = [&](double value) { return signed_percent(pair.percent(value)); };
    const std::string what = (with_data ? pair.one->data + ", " : "") + pair.one->backbone + ": " +
                             name_of(*pair.one) + " against " + name_of(*pair.other);
    table.rows.push_back(
        {what, or_dash(pair.one->budget.empty() ? pair.other->budget : pair.one->budget),
         std::string(pair.metric.short_name), percent(pair.test.difference),
         percent(pair.interval.low) + " to " + percent(pair.interval.high),
         signed_decimal(pair.test.effect), p_text(pair.test.p), p_text(pair.holm_p),
         pair.seeds > 1 ? percent(pair.over_seeds.mean) + " ± " +
                              decimal_text(pair.percent(pair.over_seeds.deviation)) + " %"
                        : "one seed",
         std::to_string(pair.seeds_better) + " of " + std::to_string(pair.seeds)});
  }
  if (pairs.empty()) return table;
  add_definitions(pairs.size(), table.notes);
  return table;
}

std::vector<SmallestFile> smallest_within(std::span<const RunGroup> groups, double share) {
  std::vector<SmallestFile> found;
  for (const RunGroup& full : groups) {
    if (full.method != "full") continue;
    const double least = (1 - share) * full.validation(kRecall20).mean;
    SmallestFile smallest = {&full, &full};
    for (const RunGroup& group : groups) {
      if (group.backbone != full.backbone || group.validation(kRecall20).mean < least) continue;
      if (group.mean_file_bytes() < smallest.smallest->mean_file_bytes()) {
        smallest.smallest = &group;
      }
    }
    found.push_back(smallest);
  }
  return found;
}

std::string smallest_text(const SmallestFile& found, double share) {
  const RunGroup& full = *found.full;
  const RunGroup& smallest = *found.smallest;
  // Not the shortest text of a number, which is 9e+01 for 90.
  std::array<char, 32> percent{};
  std::snprintf(percent.data(), percent.size(), "%.6g", 100 * share);
  const std::string limit = std::string(percent.data()) + " % of full size (" + full.backbone +
                            ", recall@20 on validation)";
  if (found.smallest == found.full) {
    return "No file of these runs is smaller than that of full size and within " + limit + ".";
  }
  const double quality = full.test(kRecall20).mean;
  const double change = quality == 0 ? 0 : 100 * (smallest.test(kRecall20).mean / quality - 1);
  return "The smallest file within " + limit + ": " + name_of(smallest) + ", budget " +
         or_dash(smallest.budget) + ", " + whole_text(smallest.mean_file_bytes()) + " bytes of " +
         whole_text(full.mean_file_bytes()) + "; on test recall@20 " +
         quality_text(smallest.test(kRecall20).mean) + " of " + quality_text(quality) + " (" +
         signed_percent(change) + ").";
}

Json compare_json(std::span<const RunGroup> groups) {
  Json json = {{"dataset", nullptr}, {"cells", Json::array()}};
  if (!groups.empty()) {
    json["dataset"] = report_json(*groups[0].runs[0]->report).at("dataset");
  }
  const auto spread = [](const Spread& one) {
    return Json{{"mean", one.mean}, {"deviation", one.deviation}};
  };
  for (const RunGroup& group : groups) {
    json["cells"].push_back({{"backbone", group.backbone},
                             {"method", group.method},
                             {"budget", group.budget},
                             {"runs", group.runs.size()},
                             {"bytes", group.mean_bytes()},
                             {"file_bytes", group.mean_file_bytes()},
                             {"validation_recall@20", spread(group.validation(kRecall20))},
                             {"test_recall@20", spread(group.test(kRecall20))},
                             {"test_ndcg@20", spread(group.test(kNdcg20))}});
  }
  return json;
}

}  // namespace bet
