#pragma once

#include <string>
#include <string_view>

namespace bet {

// How a text file states interactions.
struct TableFormat {
  // A line is a user with its items ("u i i i", LightGCN's files) instead of one interaction.
  bool adjacency = false;
  // "\t", ",", ";", "::" or " " (any run of blanks).
  std::string delimiter = " ";
  bool header = false;
  // Columns from 0; -1 where there is none.
  int user = 0;
  int item = 1;
  int rating = -1;
  int time = -1;
  // What the user is told: "lightgcn", "csv", "tsv", "inter", "blank" or "colons".
  std::string name;
};

// What the caller knows beforehand; empty means "find out".
struct FormatHints {
  std::string format;    // one of TableFormat::name, or "auto"
  std::string user_col;  // a header's name, or a column number from 1
  std::string item_col;
};

// Decides by the hints and the file's first whole lines. `source` names the file in errors, and
// its ending (.inter) counts as a hint.
TableFormat detect_format(std::string_view first_lines, const std::string& source,
                          const FormatHints& hints);

}  // namespace bet
