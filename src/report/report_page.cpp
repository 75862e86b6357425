#include "report/report_page.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/with_commas.h"
#include "report/html_page.h"
#include "report/html_text.h"
#include "report/report_charts.h"
#include "report/svg_chart.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t count_at(const Json& json, const char* key) {
  return json.at(key).get<std::uint64_t>();
}

std::string text_at(const Json& json, const char* key) { return json.at(key).get<std::string>(); }

// Of the file or of the table as stored: what the budget was asked for; else of parameters.
struct BudgetUse {
  std::string of;
  std::uint64_t allowed = 0;
  std::uint64_t used = 0;
};

BudgetUse budget_use(const Json& budget, const Json& used) {
  const bool in_bytes = text_at(budget, "requested").ends_with('B');
  if (!in_bytes) return {"parameters", count_at(budget, "params"), count_at(used, "params")};
  if (budget.value("for", "table") == "file") {
    return {"bytes of the model file", count_at(budget, "bytes"), count_at(used, "file_bytes")};
  }
  return {"bytes of the table", count_at(budget, "bytes"), count_at(used, "bytes")};
}

std::string budget_words(const Json& budget) {
  return budget.is_null() ? "without a budget" : "within " + text_at(budget, "requested");
}

// "recall@20 0.1234 and ndcg@20 0.1234".
std::string quality_words(const Json& metrics) {
  return "recall@20 " + fixed_text(metrics.at("recall@20")) + " and ndcg@20 " +
         fixed_text(metrics.at("ndcg@20"));
}

std::string result_sentence(const Json& report) {
  const Json& used = report.at("used");
  const bool on_test = !report.at("test").is_null();
  const char* const part = on_test ? "test" : "validation";
  const Json& quality = report.at(part);
  std::string text = text_at(report, "backbone") + " " + budget_words(report.at("budget")) +
                     " reaches " + quality_words(quality) + " on " + part;
  if (report.contains("popularity") && !report["popularity"].at(part).is_null()) {
    const double floor = report["popularity"][part].at("recall@20");
    if (floor > 0) {
      text += ", " + fixed_text(quality.at("recall@20").get<double>() / floor, 2) +
              " times the recall of popularity";
    }
  }
  text += ", with a table of " + short_bytes(count_at(used, "bytes"));
  if (report.contains("full_table")) {
    const double full = report["full_table"].at("bytes");
    text += " (" + percent_text(used.at("bytes").get<double>() / full) + " of the full one)";
  }
  return text + " in a file of " + short_bytes(count_at(used, "file_bytes")) + ".";
}

std::string budget_section(const Json& report) {
  const Json& budget = report.at("budget");
  const Json& used = report.at("used");
  std::string text;
  if (!budget.is_null()) {
    const BudgetUse use = budget_use(budget, used);
    const std::string words =
        with_commas(use.used) + " of " + with_commas(use.allowed) + " " + use.of;
    text += svg_divided_bar({{words, 1, static_cast<double>(use.used)}},
                            static_cast<double>(std::max(use.allowed, use.used)));
    text += paragraph("Asked: " + text_at(budget, "requested") + ". Used: " + words + ".");
    if (budget.value("covers_full", false)) {
      text += note("The budget holds the full table; nothing had to be cut.");
    }
  }
  std::string stored = with_commas(count_at(used, "params")) + " parameters (" +
                       percent_text(used.at("share")) + " of the full table), " +
                       with_commas(count_at(used, "bytes")) + " bytes";
  if (used.contains("precision")) stored += " in " + text_at(used, "precision");
  return text +
         note(stored + "; the file has " + with_commas(count_at(used, "file_bytes")) + " bytes.");
}

std::string bytes_section(const Json& report) {
  if (!report.contains("sections")) return "";
  std::vector<std::pair<std::string, std::uint64_t>> parts;
  std::uint64_t total = 0;
  for (const Json& section : report["sections"]) {
    parts.emplace_back(text_at(section, "name"), count_at(section, "bytes"));
    total += parts.back().second;
  }
  std::ranges::stable_sort(parts, std::greater<>(), [](const auto& part) { return part.second; });
  constexpr int kColours = 6;
  std::vector<BarPart> bar;
  std::string rows;
  for (const auto& [name, bytes] : parts) {
    const double share = static_cast<double>(bytes) / static_cast<double>(total);
    const int colour = std::min(static_cast<int>(bar.size()) + 1, kColours);
    bar.push_back(
        {name + ": " + with_commas(bytes) + " bytes", colour, static_cast<double>(bytes)});
    rows += "<tr><th scope=\"row\"><span class=\"swatch c" + std::to_string(colour) + "\"></span>" +
            escaped(name) + "</th><td>" + with_commas(bytes) + "</td><td>" + percent_text(share) +
            "</td></tr>\n";
  }
  return svg_divided_bar(bar, static_cast<double>(total)) +
         "<table><thead><tr><th>part of model.bet</th><th>bytes</th><th>share</th></tr></thead>"
         "<tbody>\n" +
         rows + "<tr class=\"chosen\"><th scope=\"row\">whole file</th><td>" + with_commas(total) +
         "</td><td></td></tr>\n</tbody></table>\n";
}

// A row of the table of qualities; what is not known is a dash.
struct QualityRow {
  std::string name;
  Json bytes;
  Json validation;
  Json test;
  Json search;
  bool chosen = false;
};

std::string quality_cells(const Json& metrics) {
  std::string cells;
  for (const char* name : {"recall@20", "ndcg@20"}) {
    cells += "<td>" + (metrics.is_null() ? "–" : fixed_text(metrics.at(name))) + "</td>";
  }
  return cells;
}

std::string quality_row(const QualityRow& row, bool with_search) {
  std::string text = row.chosen ? "<tr class=\"chosen\">" : "<tr>";
  text += "<th scope=\"row\">" + escaped(row.name) + "</th><td>" +
          (row.bytes.is_null() ? "–" : with_commas(row.bytes.get<std::uint64_t>())) + "</td>" +
          quality_cells(row.validation) + quality_cells(row.test);
  if (with_search) {
    text += "<td>" + (row.search.is_null() ? "–" : fixed_text(row.search)) + "</td>";
  }
  return text + "</tr>\n";
}

std::vector<QualityRow> quality_rows(const Json& report, const Json& equal_search) {
  std::vector<QualityRow> rows;
  if (report.contains("full_table") || report.contains("full")) {
    rows.push_back(
        {"full size", report.contains("full_table") ? report["full_table"].at("bytes") : Json(),
         report.contains("full") ? report["full"].at("validation") : Json(), Json(), Json()});
  }
  // Where the chosen plan has equal sizes itself, its own row says all.
  const bool is_equal = report.contains("equal") &&
                        report["equal"].value("validation", Json()) == report["validation"];
  if (report.contains("equal") && !is_equal) {
    const Json& equal = report["equal"];
    rows.push_back({"equal sizes", equal.at("bytes"), equal.value("validation", Json()), Json(),
                    equal_search.is_null() ? Json() : equal_search.at("score")});
  }
  rows.push_back({"chosen plan", report.at("used").at("bytes"), report.at("validation"),
                  report.at("test"), equal_search.is_null() ? Json() : equal_search.at("chosen"),
                  true});
  if (report.contains("popularity")) {
    const Json& popularity = report["popularity"];
    rows.push_back(
        {"popularity", Json(), popularity.at("validation"), popularity.at("test"), Json()});
  }
  return rows;
}

std::string quality_section(const Json& report) {
  const Json equal_search =
      report.contains("equal") ? report["equal"].value("search", Json()) : Json();
  const bool with_search = !equal_search.is_null();
  std::string text =
      "<div class=\"wide\"><table><thead><tr><th></th><th>table</th>"
      "<th colspan=\"2\">validation</th><th colspan=\"2\">test</th>";
  if (with_search) text += "<th>search</th>";
  text += "</tr>\n<tr><th></th><th>bytes</th><th>R@20</th><th>N@20</th><th>R@20</th><th>N@20</th>";
  if (with_search) text += "<th>score</th>";
  text += "</tr></thead><tbody>\n";
  for (const QualityRow& row : quality_rows(report, equal_search)) {
    text += quality_row(row, with_search);
  }
  text += "</tbody></table></div>\n";
  if (report.contains("test_fp32")) {
    text += note("As trained, before it was stored: " + quality_words(report["test_fp32"]) +
                 " on test.");
  }
  std::string words =
      "R: recall, N: ndcg, means over users. A dash: not measured in this run. Validation is of "
      "the plan trained on "
      "the "
      "training part, test of the final model as stored.";
  if (report.contains("equal")) {
    words += " Equal sizes are " + with_commas(count_at(report["equal"], "size")) +
             " values a row in " + text_at(report["equal"], "precision") + ".";
  }
  if (with_search) {
    words += " The score in the search is the mean of six metrics after " +
             with_commas(count_at(equal_search, "steps")) +
             " steps, on the same held-out items for both plans.";
  }
  return text + note(words);
}

std::string search_section(const Json& report) {
  const Json& trials = report.at("trials");
  if (trials.empty()) return "";
  const std::uint64_t planned = report.value("planned_trials", std::uint64_t{trials.size()});
  std::string text = with_commas(trials.size()) + " trainings";
  if (planned > trials.size()) text += " of " + with_commas(planned) + ": the search was cut short";
  std::string contents = paragraph(text + ".");
  if (report.at("method") == "bet") {
    contents += note(
        "Plans are trained briefly, the better ones longer. Scores of different lengths cannot be "
        "compared with each other.");
  }
  contents += charts_of(search_charts(report));
  contents +=
      "<details><summary>All trainings</summary><div class=\"wide\"><table><thead><tr>"
      "<th>training</th><th>plan</th><th>from</th><th>steps</th><th>fold</th><th>loss</th>"
      "<th>precision</th><th>largest size</th><th>predicted</th><th>score</th></tr></thead>"
      "<tbody>\n";
  for (const Json& trial : trials) {
    const Json plan = trial.value("plan", Json());
    const Json& predicted = trial.at("predicted");
    contents += "<tr><td>" + with_commas(count_at(trial, "iteration")) + "</td><td>" +
                (plan.is_null() ? "–" : with_commas(plan.get<std::uint64_t>())) + "</td><td>" +
                escaped(text_at(trial, "strategy")) + "</td><td>" +
                with_commas(count_at(trial, "steps")) + "</td><td>" +
                with_commas(count_at(trial, "fold")) + "</td><td>" +
                escaped(text_at(trial.at("loss"), "kind")) + "</td><td>" +
                escaped(text_at(trial, "precision")) + "</td><td>" +
                with_commas(count_at(trial, "largest_size")) + "</td><td>" +
                (predicted.is_null() ? "–" : fixed_text(predicted, 5)) + "</td><td>" +
                fixed_text(trial.at("fitness"), 5) + "</td></tr>\n";
  }
  return contents + "</tbody></table></div></details>\n";
}

std::string sizes_section(const Json& report) {
  const std::string charts = size_charts(report);
  if (charts.empty()) return "";
  return charts_of(charts) + note("Rows were trained in " + text_at(report["sizes"], "precision") +
                                  ". Each point is the mean of the rows of some ranks; bits "
                                  "are those of the values and the scale of a row.");
}

std::string activity_section(const Json& report) {
  const std::string chart = activity_chart(report);
  if (chart.empty()) return "";
  std::string rows;
  for (const Json& group : report["activity"]) {
    rows += "<tr><th scope=\"row\">" + with_commas(count_at(group, "fewest")) + " to " +
            with_commas(count_at(group, "most")) + "</th><td>" +
            with_commas(count_at(group, "users")) + "</td>" + quality_cells(group.at("test")) +
            quality_cells(group.at("popularity")) + "</tr>\n";
  }
  return charts_of(chart +
                   "<div class=\"wide\"><table><thead><tr><th>items in</th><th></th>"
                   "<th colspan=\"2\">this model</th><th colspan=\"2\">popularity</th></tr>\n"
                   "<tr><th>training</th><th>users</th><th>R@20</th><th>N@20</th><th>R@20</th>"
                   "<th>N@20</th></tr></thead><tbody>\n" +
                   rows + "</tbody></table></div>\n") +
         note(
             "Users with test items, in quarters by the number of their items in training; users "
             "with the same number are in one quarter.");
}

std::string row_of_list(const char* name, const std::string& text) {
  return "<dt>" + std::string(name) + "</dt><dd>" + escaped(text) + "</dd>\n";
}

std::string data_words(const Json& data) {
  const Json& split = data.at("split");
  return text_at(data, "name") + ": " + with_commas(count_at(data, "users")) + " users, " +
         with_commas(count_at(data, "items")) + " items, " +
         with_commas(count_at(data, "interactions")) + " interactions; split " +
         text_at(split, "kind") + ", seed " + std::to_string(count_at(split, "seed")) + ": " +
         with_commas(count_at(split, "train")) + " train, " +
         with_commas(count_at(split, "validation")) + " validation, " +
         with_commas(count_at(split, "test")) + " test";
}

std::string time_words(const Json& seconds) {
  const auto part = [&](const char* key) { return fixed_text(seconds.at(key), 1) + " s"; };
  return part("total") + ": load " + part("load") + ", pretrain " + part("pretrain") + ", search " +
         part("search") + ", retrain " + part("retrain") + ", final " + part("final") + ", file " +
         part("export");
}

std::string run_section(const Json& report) {
  std::string text = "<dl>\n";
  if (report.contains("command")) {
    text += "<dt>command</dt><dd><code>" + escaped(text_at(report, "command")) + "</code></dd>\n";
  }
  text += row_of_list("data", data_words(report.at("dataset")));
  text += row_of_list("data hash", text_at(report.at("dataset"), "hash"));
  text += row_of_list("method", text_at(report, "method") + " with " + text_at(report, "backbone") +
                                    ", seed " + std::to_string(count_at(report, "seed")));
  if (report.contains("loss")) {
    const Json& loss = report["loss"];
    std::string words = text_at(loss, "kind");
    if (loss.contains("temperature")) {
      words += ", temperature " + fixed_text(loss["temperature"], 2);
    }
    if (text_at(loss, "score") == "cosine") words += ", of cosines";
    text += row_of_list("loss", words);
  }
  if (report.contains("note")) text += row_of_list("note", text_at(report, "note"));
  if (report.at("interrupted").get<bool>()) {
    text += row_of_list("interrupted", "yes: this is the best so far");
  }
  text += row_of_list("time", time_words(report.at("seconds")));
  text +=
      row_of_list("machine", text_at(report, "device") + ", " +
                                 with_commas(count_at(report, "threads")) + " threads, at most " +
                                 short_bytes(count_at(report, "peak_rss_bytes")) + " of memory");
  const Json& versions = report.at("versions");
  const std::string commit = versions.value("commit", "");
  text += row_of_list("versions", "bet " + text_at(versions, "bet") +
                                      (commit.empty() ? "" : " (" + commit + ")") + ", LibTorch " +
                                      text_at(versions, "torch") + ", kernels " +
                                      text_at(versions, "kernels"));
  return text + "</dl>\n";
}

}  // namespace

std::string report_page(const Json& report) {
  return html_page(text_at(report.at("dataset"), "name"), result_sentence(report),
                   section_of("Budget", budget_section(report)) +
                       section_of("Quality", quality_section(report)) +
                       section_of("Where the bytes go", bytes_section(report)) +
                       section_of("Sizes", sizes_section(report)) +
                       section_of("Who pays for the budget", activity_section(report)) +
                       section_of("Search", search_section(report)) +
                       section_of("Training", charts_of(training_charts(report))) +
                       section_of("Run", run_section(report)));
}

}  // namespace bet
