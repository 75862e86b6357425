#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bet {

// A table of texts, for the screen and for pages.
struct ResultTable {
  std::string title = {};
  std::vector<std::string> columns;            // names
  std::vector<std::vector<std::string>> rows;  // a text for each column
  std::vector<std::string> notes = {};         // sentences below it
};

// The first column to the left, the others to the right, notes below; ends with a line break.
std::string table_text(const ResultTable& table);

nlohmann::ordered_json table_json(const ResultTable& table);

// "0.1234"; "0.1234 ± 0.0056".
std::string quality_text(double value);
std::string quality_text(double mean, double deviation);

// "+1.23 %".
std::string signed_percent(double percent);

// "+0.123"; "1.23".
std::string signed_decimal(double value);
std::string decimal_text(double value);

// "0.0312", "< 0.0001".
std::string p_text(double p);

}  // namespace bet
