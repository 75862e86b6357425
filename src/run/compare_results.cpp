#include "run/compare_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/option.h"
#include "base/precision_text.h"
#include "run/report_json.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

// A field of CSV, in quotes where it needs them.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

using Fields = std::vector<std::pair<std::string, std::string>>;

void add_metrics(const std::string& part, const Metrics& metrics, Fields& fields) {
  for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
    const std::string cutoff = "@" + std::to_string(kCutoffs[i]);
    const auto text = [&](double value) {
      return metrics.num_users > 0 ? shortest_text(value) : std::string();
    };
    fields.emplace_back(str_cat(part, "_recall", cutoff), text(metrics.recall[i]));
    fields.emplace_back(str_cat(part, "_ndcg", cutoff), text(metrics.ndcg[i]));
  }
}

Fields fields_of(const FitReport& report) {
  const auto& used = report.used;
  Fields fields = {{"data", report.data.name},
                   {"data_hash", report.data.hash},
                   {"backbone", report.backbone},
                   {"method", report.method},
                   {"budget", report.budget ? report.budget->requested.text : ""},
                   {"precision", used.precision ? precision_text(*used.precision) : ""},
                   {"seed", std::to_string(report.seed)},
                   {"params", std::to_string(used.params)},
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
                 {"version", report.versions.bet}});
  return fields;
}

}  // namespace

std::string results_csv(std::span<const ComparedRun> runs) {
  std::string names;
  std::string lines;
  for (const ComparedRun& run : runs) {
    if (!run.report) continue;
    names.clear();
    for (const auto& [name, value] : fields_of(*run.report)) {
      const bool first = names.empty();
      names += (first ? "" : ",") + name;
      lines += (first ? "" : ",") + field(value);
    }
    lines += "\n";
  }
  return names.empty() ? "" : names + "\n" + lines;
}

Spread spread_of(std::span<const double> values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / count;
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

std::vector<ComparedCell> compared_cells(std::span<const ComparedRun> runs) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::vector<Key> order;
  std::map<Key, std::vector<const FitReport*>> cells;
  for (const ComparedRun& run : runs) {
    if (!run.report) continue;
    const Key key = {run.report->backbone, run.report->method,
                     run.report->budget ? run.report->budget->requested.text : ""};
    if (!cells.contains(key)) order.push_back(key);
    cells[key].push_back(&*run.report);
  }
  std::vector<ComparedCell> compared;
  for (const Key& key : order) {
    const std::vector<const FitReport*>& reports = cells[key];
    const auto values = [&](const auto& value_of) {
      std::vector<double> all;
      all.reserve(reports.size());
      for (const FitReport* report : reports) all.push_back(value_of(*report));
      return spread_of(all);
    };
    constexpr std::size_t kAt20 = 2;
    compared.push_back(
        {.backbone = std::get<0>(key),
         .method = std::get<1>(key),
         .budget = std::get<2>(key),
         .runs = reports.size(),
         .bytes = values([](const FitReport& r) { return static_cast<double>(r.used.bytes); }).mean,
         .file_bytes =
             values([](const FitReport& r) { return static_cast<double>(r.used.file_bytes); }).mean,
         .validation_recall = values([](const FitReport& r) { return r.validation.recall[kAt20]; }),
         .test_recall = values([](const FitReport& r) { return r.test.recall[kAt20]; }),
         .test_ndcg = values([](const FitReport& r) { return r.test.ndcg[kAt20]; })});
  }
  return compared;
}

Json compare_json(std::span<const ComparedRun> runs) {
  Json json = {{"dataset", nullptr}, {"cells", Json::array()}};
  for (const ComparedRun& run : runs) {
    if (!run.report) continue;
    json["dataset"] = report_json(*run.report).at("dataset");
    break;
  }
  const auto spread = [](const Spread& one) {
    return Json{{"mean", one.mean}, {"deviation", one.deviation}};
  };
  for (const ComparedCell& cell : compared_cells(runs)) {
    json["cells"].push_back({{"backbone", cell.backbone},
                             {"method", cell.method},
                             {"budget", cell.budget},
                             {"runs", cell.runs},
                             {"bytes", cell.bytes},
                             {"file_bytes", cell.file_bytes},
                             {"validation_recall@20", spread(cell.validation_recall)},
                             {"test_recall@20", spread(cell.test_recall)},
                             {"test_ndcg@20", spread(cell.test_ndcg)}});
  }
  return json;
}

}  // namespace bet
