#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bet {

// A line of CSV: names and values. All lines of a file have the same names.
using CsvFields = std::vector<std::pair<std::string, std::string>>;

// A line of names and a line for each, with values in quotes where they need them; empty without
// lines.
std::string csv_text(std::span<const CsvFields> lines);

}  // namespace bet
