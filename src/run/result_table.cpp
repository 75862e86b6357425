#include "run/result_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace bet {
namespace {

// Characters of UTF-8, each as wide as any other.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

std::string table_text(const ResultTable& table) {
  std::vector<std::size_t> widths;
  widths.reserve(table.columns.size());
  for (const std::string& name : table.columns) widths.push_back(width_of(name));
  for (const std::vector<std::string>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text = table.title.empty() ? "" : table.title + "\n";
  const auto add_row = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      text += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  };
  add_row(table.columns);
  for (const std::vector<std::string>& row : table.rows) add_row(row);
  for (const std::string& note : table.notes) text += note + "\n";
  return text;
}

nlohmann::ordered_json table_json(const ResultTable& table) {
  return {{"title", table.title},
          {"columns", table.columns},
          {"rows", table.rows},
          {"notes", table.notes}};
}

std::string quality_text(double value) { return formatted("%.4f", value); }

std::string quality_text(double mean, double deviation) {
  return formatted("%.4f ± %.4f", mean, deviation);
}

std::string signed_percent(double percent) { return formatted("%+.2f %%", percent); }

std::string signed_decimal(double value) { return formatted("%+.3f", value); }

std::string decimal_text(double value) { return formatted("%.2f", value); }

std::string p_text(double p) { return p < 1e-4 ? "< 0.0001" : quality_text(p); }

}  // namespace bet
