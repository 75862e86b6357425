#include "run/csv_line.h"

namespace bet {
namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string csv_text(std::span<const CsvFields> lines) {
  if (lines.empty()) return "";
  std::string text;
  for (std::size_t i = 0; i < lines[0].size(); ++i) text += (i > 0 ? "," : "") + lines[0][i].first;
  text += "\n";
  for (const CsvFields& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      text += (i > 0 ? "," : "") + csv_field(line[i].second);
    text += "\n";
  }
  return text;
}

}  // namespace bet
