#include "report/compare_page.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/with_commas.h"
#include "report/html_page.h"
#include "report/html_text.h"
#include "report/result_tables.h"
#include "report/svg_chart.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> values_of(const Json& cells, const char* key) {
  std::vector<std::string> values;
  for (const Json& cell : cells) {
    const auto value = cell.at(key).get<std::string>();
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string rounded_count(const Json& number) {
  return with_commas(static_cast<std::uint64_t>(std::llround(number.get<double>())));
}

std::string spread_text(const Json& spread) {
  return fixed_text(spread.at("mean")) + " ± " + fixed_text(spread.at("deviation"));
}

std::string curve(const Json& cells, const std::string& backbone, const char* metric,
                  const std::string& name) {
  Chart chart = {.title = name + " on test, " + backbone,
                 .x = {.label = "bytes of the table", .log = true},
                 .y = {.label = name},
                 .series = {}};
  constexpr int kColours = 6;
  int colour = 0;
  for (const std::string& method : values_of(cells, "method")) {
    colour = colour % kColours + 1;
    ChartSeries series = {method, colour, {}, true, true};
    for (const Json& cell : cells) {
      if (cell.at("backbone") != backbone || cell.at("method") != method) continue;
      const Json& spread = cell.at(metric);
      series.points.push_back({cell.at("bytes"), spread.at("mean"),
                               method + ", " + cell.at("budget").get<std::string>() + ", " +
                                   rounded_count(cell["bytes"]) + " bytes: " + spread_text(spread),
                               spread.at("deviation")});
    }
    std::ranges::stable_sort(series.points, {}, &ChartPoint::x);
    chart.series.push_back(std::move(series));
  }
  return svg_chart(chart);
}

std::string table_of(const Json& cells) {
  std::string text =
      "<div class=\"wide\"><table><thead><tr><th>backbone</th><th>method</th><th>budget</th>"
      "<th>runs</th><th>table bytes</th><th>file bytes</th><th>validation R@20</th>"
      "<th>test R@20</th><th>test N@20</th></tr></thead><tbody>\n";
  for (const Json& cell : cells) {
    text += "<tr>";
    for (const char* key : {"backbone", "method", "budget"}) {
      text += "<td>" + escaped(cell.at(key).get<std::string>()) + "</td>";
    }
    text += "<td>" + with_commas(cell.at("runs").get<std::uint64_t>()) + "</td>";
    for (const char* key : {"bytes", "file_bytes"}) {
      text += "<td>" + rounded_count(cell.at(key)) + "</td>";
    }
    for (const char* key : {"validation_recall@20", "test_recall@20", "test_ndcg@20"}) {
      text += "<td>" + spread_text(cell.at(key)) + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string compare_page(const Json& comparison) {
  const Json& cells = comparison.at("cells");
  const Json& data = comparison.at("dataset");
  std::uint64_t runs = 0;
  for (const Json& cell : cells) runs += cell.at("runs").get<std::uint64_t>();
  std::string figures;
  for (const std::string& backbone : values_of(cells, "backbone")) {
    figures += curve(cells, backbone, "test_recall@20", "recall@20");
    figures += curve(cells, backbone, "test_ndcg@20", "ndcg@20");
  }
  std::string within;
  for (const Json& sentence : comparison.value("within", Json::array())) {
    within += paragraph(sentence.get<std::string>());
  }
  const auto name = data.at("name").get<std::string>();
  return html_page(
      name, with_commas(runs) + " runs compared on " + name + ".",
      section_of("Quality by budget",
                 charts_of(figures) + note("Means over seeds; bars are the standard deviation.")) +
          section_of("Smallest file", within) +
          section_of("The first method against the others",
                     comparison.contains("pairs") ? html_table(comparison["pairs"]) : "") +
          section_of("All results", table_of(cells)) +
          section_of("Data", note("Hash " + data.at("hash").get<std::string>() + ".")));
}

}  // namespace bet
