#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bet {

// How a text file states interactions.
struct TableFormat {
  // A line is a user with its items ("u i i i", LightGCN's files) instead of one interaction.
  bool adjacency = false;
  // "\t", ",", ";", "::" or " " (any run of blanks).
  std::string delimiter = " ";
  bool header = false;
  // `header` is a guess: check_first_line() has to confirm it once all lines are read.
  bool header_in_doubt = false;
  // The fields of the first line: with a header, the columns' names. Empty for adjacency.
  std::vector<std::string> first_line;
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
  std::string rating_col;
  std::string time_col;
  bool no_header = false;  // the first line is data

  bool give_columns() const;
};

// Decides by the hints and the file's first whole lines. `source` names the file in errors, and
// its ending (.inter) counts as a hint. Throws where the columns cannot be told.
TableFormat detect_format(std::string_view first_lines, const std::string& source,
                          const FormatHints& hints);

// Throws unless the guess about the first line is confirmed by the rest of the file.
// `occurs_again`: the first line's user occurs in another line as a user, or its item as an item.
void check_first_line(const TableFormat& format, const std::string& source, bool occurs_again);

// Which columns were taken: "user = column 1 'reader', item = column 2 'book_id', header".
std::string describe_columns(const TableFormat& format);

}  // namespace bet
