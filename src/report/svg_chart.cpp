#include "report/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "report/html_text.h"

namespace bet {
namespace {

// Units are pixels on a phone; on larger screens a chart is enlarged by up to a half.
constexpr double kWidth = 350;
constexpr double kHeight = 220;
constexpr double kLeft = 44;
constexpr double kRight = kWidth - 10;
constexpr double kTop = 22;
constexpr double kBottom = kHeight - 36;

std::string coordinate(double value) { return fixed_text(value, 1); }

// "0.15", "20k", "1.5M", "2e-05": of an axis.
std::string tick_text(double value) {
  const double size = std::abs(value);
  const auto plain = [](double number) {
    std::string text = fixed_text(number, 4);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  if (size > 1e-9 && size < 5e-5) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.0e", value);
    return text.data();
  }
  if (size >= 1e6) return plain(value / 1e6) + "M";
  if (size >= 1e4) return plain(value / 1e3) + "k";
  return plain(value);
}

// Values to places.
class Scale {
 public:
  Scale(const ChartAxis& axis, double lowest, double highest, double from, double to)
      : log_(axis.log), from_(from), to_(to) {
    if (log_) {
      low_ = std::log10(lowest);
      high_ = std::log10(highest);
      if (high_ - low_ < 1e-9) high_ = low_ + 1;
      // Where there are few powers of ten, others between them.
      constexpr double kFewPowers = 2.5;
      const auto last = static_cast<int>(std::floor(high_ + 1e-9));
      for (auto power = static_cast<int>(std::floor(low_)); power <= last; ++power) {
        for (const double part : {1.0, 2.0, 5.0}) {
          const double tick = part * std::pow(10, power);
          const bool inside = std::log10(tick) >= low_ - 1e-9 && std::log10(tick) <= high_ + 1e-9;
          if (inside && (part == 1 || high_ - low_ < kFewPowers)) ticks_.push_back(tick);
        }
      }
      return;
    }
    if (axis.from_zero) lowest = std::min(0.0, lowest);
    if (highest - lowest < 1e-12) {
      const double room = std::max(std::abs(highest) / 10, 1e-6);
      lowest -= axis.from_zero && lowest == 0 ? 0 : room;
      highest += room;
    }
    constexpr double kMostTicks = 5;
    const double rough = (highest - lowest) / kMostTicks;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double nice : {5.0, 2.5, 2.0, 1.0}) {
      if (nice * power >= rough) step = nice * power;
    }
    low_ = std::floor(lowest / step + 1e-9) * step;
    high_ = std::ceil(highest / step - 1e-9) * step;
    for (int i = 0; low_ + i * step <= high_ + step / 2; ++i) ticks_.push_back(low_ + i * step);
  }

  double operator()(double value) const {
    const double at = log_ ? std::log10(value) : value;
    return from_ + (to_ - from_) * (at - low_) / (high_ - low_);
  }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  bool log_;
  double from_;
  double to_;
  double low_ = 0;
  double high_ = 1;
  std::vector<double> ticks_;
};

struct Range {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();

  void add(double value) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
};

std::string colour_class(int colour) { return "c" + std::to_string(colour); }

std::string line_of(double x1, double y1, double x2, double y2, const char* kind) {
  return "<line class=\"" + std::string(kind) + "\" x1=\"" + coordinate(x1) + "\" y1=\"" +
         coordinate(y1) + "\" x2=\"" + coordinate(x2) + "\" y2=\"" + coordinate(y2) + "\"/>";
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" text-anchor=\"" + anchor +
         "\">" + escaped(text) + "</text>";
}

std::string legend_of(const std::vector<std::pair<std::string, int>>& names) {
  if (names.size() < 2) return "";
  std::string text = "<ul class=\"legend\">";
  for (const auto& [name, colour] : names) {
    text +=
        "<li><span class=\"swatch " + colour_class(colour) + "\"></span>" + escaped(name) + "</li>";
  }
  return text + "</ul>";
}

// The frame of a figure around what is drawn.
std::string figure_of(const std::string& title, const std::string& legend,
                      const std::string& drawn) {
  return "<figure><figcaption>" + escaped(title) + "</figcaption>" + legend +
         "<svg role=\"img\" aria-label=\"" + escaped(title) + "\" viewBox=\"0 0 " +
         fixed_text(kWidth, 0) + " " + fixed_text(kHeight, 0) + "\">" + drawn + "</svg></figure>\n";
}

std::string y_axis(const Scale& scale, const std::string& label) {
  std::string text = text_at(2, 10, "start", label);
  for (const double tick : scale.ticks()) {
    text += line_of(kLeft, scale(tick), kRight, scale(tick), "grid") +
            text_at(kLeft - 6, scale(tick) + 4, "end", tick_text(tick));
  }
  return text;
}

std::string x_axis(const Scale& scale, const std::string& label) {
  std::string text = text_at((kLeft + kRight) / 2, kHeight - 4, "middle", label) +
                     line_of(kLeft, kBottom, kRight, kBottom, "axis");
  for (const double tick : scale.ticks()) {
    text += line_of(scale(tick), kBottom, scale(tick), kBottom + 4, "axis") +
            text_at(scale(tick), kBottom + 16, "middle", tick_text(tick));
  }
  return text;
}

std::string drawn_series(const ChartSeries& series, const Scale& x, const Scale& y) {
  std::string text = "<g class=\"" + colour_class(series.colour) + "\">";
  if (series.line) {
    text += "<polyline points=\"";
    for (const ChartPoint& point : series.points) {
      text += coordinate(x(point.x)) + "," + coordinate(y(point.y)) + " ";
    }
    text += "\"/>";
  }
  for (const ChartPoint& point : series.points) {
    if (!series.dots) break;
    if (point.spread > 0) {
      text += line_of(x(point.x), y(point.y - point.spread), x(point.x), y(point.y + point.spread),
                      "spread");
    }
    text += "<circle cx=\"" + coordinate(x(point.x)) + "\" cy=\"" + coordinate(y(point.y)) +
            "\" r=\"" + (series.line ? "2" : "3") + "\"><title>" + escaped(point.title) +
            "</title></circle>";
  }
  return text + "</g>";
}

}  // namespace

std::string svg_chart(const Chart& chart) {
  Range x_range;
  Range y_range;
  std::vector<std::pair<std::string, int>> names;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      x_range.add(point.x);
      for (const double y : {point.y - point.spread, point.y + point.spread}) y_range.add(y);
    }
    if (!series.points.empty()) names.emplace_back(series.name, series.colour);
  }
  if (names.empty()) return "";
  if (chart.diagonal) {
    for (const double end : {x_range.lowest, x_range.highest}) y_range.add(end);
    x_range = y_range;
  }
  const Scale x(chart.x, x_range.lowest, x_range.highest, kLeft, kRight);
  const Scale y(chart.y, y_range.lowest, y_range.highest, kBottom, kTop);
  std::string drawn = y_axis(y, chart.y.label) + x_axis(x, chart.x.label);
  if (chart.diagonal) {
    drawn += line_of(x(x_range.lowest), y(x_range.lowest), x(x_range.highest), y(x_range.highest),
                     "axis");
  }
  for (const ChartSeries& series : chart.series) drawn += drawn_series(series, x, y);
  return figure_of(chart.title, legend_of(names), drawn);
}

std::string svg_bars(const BarChart& chart) {
  Range range;
  range.add(0);
  for (const BarGroup& group : chart.groups) {
    for (const double value : group.values) range.add(value);
  }
  if (chart.groups.empty()) return "";
  const Scale y({.label = chart.y_label, .from_zero = true}, 0, range.highest, kBottom, kTop);
  std::string drawn = y_axis(y, chart.y_label) + line_of(kLeft, kBottom, kRight, kBottom, "axis") +
                      text_at((kLeft + kRight) / 2, kHeight - 4, "middle", chart.x_label);
  const double group_width = (kRight - kLeft) / static_cast<double>(chart.groups.size());
  const double bar_width = group_width * 0.8 / static_cast<double>(chart.series.size());
  std::vector<std::pair<std::string, int>> names;
  names.reserve(chart.series.size());
  for (const std::string& name : chart.series) {
    names.emplace_back(name, static_cast<int>(names.size()) + 1);
  }
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const BarGroup& group = chart.groups[g];
    const double left = kLeft + group_width * (static_cast<double>(g) + 0.1);
    drawn += text_at(left + group_width * 0.4, kBottom + 16, "middle", group.label);
    for (std::size_t i = 0; i < group.values.size(); ++i) {
      const double top = y(group.values[i]);
      drawn += "<rect class=\"" + colour_class(names[i].second) + "\" x=\"" +
               coordinate(left + bar_width * static_cast<double>(i)) + "\" y=\"" + coordinate(top) +
               "\" width=\"" + coordinate(bar_width - 2) + "\" height=\"" +
               coordinate(kBottom - top) + "\"><title>" +
               escaped(group.label + ", " + names[i].first + ": " + fixed_text(group.values[i])) +
               "</title></rect>";
    }
  }
  return figure_of(chart.title, legend_of(names), drawn);
}

std::string svg_divided_bar(const std::vector<BarPart>& parts, double whole) {
  constexpr double kBarWidth = 1000;
  std::string text =
      "<svg class=\"divided\" role=\"img\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\">"
      "<rect class=\"track\" width=\"1000\" height=\"10\"/>";
  double left = 0;
  for (const BarPart& part : parts) {
    const double width = whole > 0 ? kBarWidth * part.amount / whole : 0;
    text += "<rect class=\"" + colour_class(part.colour) + "\" x=\"" + coordinate(left) +
            "\" width=\"" + coordinate(width) + "\" height=\"10\"><title>" + escaped(part.title) +
            "</title></rect>";
    left += width;
  }
  return text + "</svg>";
}

}  // namespace bet
