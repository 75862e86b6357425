#include "report/experiment_page.h"

#include <array>
#include <cstdio>

#include "report/html_page.h"
#include "report/html_text.h"
#include "report/result_tables.h"
#include "report/svg_chart.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

std::string figure_of(const Json& data) {
  Chart chart = {.title = data.at("title"),
                 .x = {.label = data.at("x")},
                 .y = {.label = data.at("y"), .log = data.at("log_y")},
                 .series = {}};
  constexpr int kColours = 6;
  int colour = 0;
  for (const Json& one : data.at("series")) {
    colour = colour % kColours + 1;
    ChartSeries series = {one.at("name"), colour, {}, true, true};
    for (const Json& point : one.at("points")) {
      // A bar down to zero or below has no place on a scale of powers.
      const double deviation = chart.y.log ? 0 : point.at("deviation").get<double>();
      series.points.push_back(
          {point.at("x"), point.at("mean"),
           series.name + ", " + chart.x.label + " " + short_number(point.at("x")) + ": " +
               short_number(point.at("mean")) + " ± " + short_number(point.at("deviation")),
           deviation});
    }
    chart.series.push_back(std::move(series));
  }
  return svg_chart(chart);
}

}  // namespace

std::string experiment_page(const Json& experiment) {
  std::string figures;
  for (const Json& chart : experiment.at("charts")) figures += figure_of(chart);
  std::string sections =
      figures.empty()
          ? ""
          : section_of("Charts", charts_of(figures) +
                                     note("Means over seeds; bars are the standard deviation."));
  for (const Json& table : experiment.at("tables")) {
    sections +=
        section_of(escaped(table.at("title").get<std::string>()).c_str(), html_table(table));
  }
  return html_page(experiment.at("title").get<std::string>(),
                   experiment.at("sentence").get<std::string>(), sections);
}

}  // namespace bet
