#include "report/result_tables.h"

#include "report/html_page.h"
#include "report/html_text.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

std::string cells_of_row(const Json& row, const char* element) {
  std::string text = "<tr>";
  for (const Json& cell : row) {
    text.append("<").append(element).append(">").append(escaped(cell.get<std::string>()));
    text.append("</").append(element).append(">");
  }
  return text + "</tr>\n";
}

}  // namespace

std::string html_table(const Json& table) {
  const Json& rows = table.at("rows");
  if (rows.empty()) return "";
  std::string text = "<div class=\"wide\"><table><thead>" + cells_of_row(table.at("columns"), "th");
  text += "</thead><tbody>\n";
  for (const Json& row : rows) text += cells_of_row(row, "td");
  text += "</tbody></table></div>\n";
  constexpr std::size_t kMostRows = 120;
  if (rows.size() > kMostRows) {
    text = "<details><summary>" + std::to_string(rows.size()) + " rows</summary>" + text +
           "</details>\n";
  }
  for (const Json& one : table.at("notes")) text += note(one.get<std::string>());
  return text;
}

}  // namespace bet
