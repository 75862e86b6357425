#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bet {

// Charts as SVG for a page of HTML. Colours are the classes c1 to c6 of its style (page_style.h);
// every mark has its number as a title. Texts are escaped here.

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string title;
  double spread = 0;  // a bar from y - spread to y + spread
};

struct ChartSeries {
  std::string name;
  int colour = 1;
  std::vector<ChartPoint> points;
  bool line = false;  // joins the points
  bool dots = true;
};

struct ChartAxis {
  std::string label = {};
  bool log = false;        // then all values are positive
  bool from_zero = false;  // else from the smallest value
};

struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
  bool diagonal = false;  // the line where both are equal; both axes have the same range
};

// A figure with title, legend (of several series) and axes. Empty where there is no point.
std::string svg_chart(const Chart& chart);

// A figure of bars, by group one of each series.
struct BarGroup {
  std::string label = {};
  std::vector<double> values;  // by series; from 0
};
struct BarChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> series;  // names
  std::vector<BarGroup> groups;
};
std::string svg_bars(const BarChart& chart);

// A bar divided into parts, as wide as what it is in.
struct BarPart {
  std::string title;
  int colour = 1;
  double amount = 0;
};
// `whole`, at least the sum of the parts, is the width of the bar.
std::string svg_divided_bar(const std::vector<BarPart>& parts, double whole);

}  // namespace bet
