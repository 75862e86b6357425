#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bet {

// How a text file lists interactions.
struct TableFormat {
  // A line is a user and its items ("u i i i", as in LightGCN's files) instead of one interaction.
  bool adjacency = false;
  // "\t", ",", ";", "::" or " " (any number of blanks).
  std::string delimiter = " ";
  bool header = false;
  // `header` is a guess: check_first_line() has to confirm it once all lines are read.
  bool header_in_doubt = false;
  // The fields of the first line: with a header, the columns' names. Empty for adjacency.
  std::vector<std::string> first_line;
  // Column numbers from 0; -1 where there is no such column.
  int user = 0;
  int item = 1;
  int rating = -1;
  int time = -1;
  // The name of the format: "lightgcn", "csv", "tsv", "inter", "blank" or "colons".
  std::string name;
};

// What the caller knows about a file; what is empty is detected.
struct FormatHints {
  std::string format;    // one of TableFormat::name, or "auto"
  std::string user_col;  // a header's name, or a column number from 1
  std::string item_col;
  std::string rating_col;
  std::string time_col;
  bool no_header = false;  // the first line is data

  // Whether any column is chosen.
  bool has_columns() const;
};

// Detects the format by the hints and the first lines of the file, which must be whole. `source`
// names the file in errors, and its extension (.inter) counts as a hint. Throws where the user and
// item columns cannot be determined.
TableFormat detect_format(std::string_view first_lines, const std::string& source,
                          const FormatHints& hints);

// Throws unless the rest of the file confirms the guess about the first line. `occurs_again`: the
// first line's user is the user of another line, or its item the item of another line.
void check_first_line(const TableFormat& format, const std::string& source, bool occurs_again);

// Which columns are used: "user = column 1 'reader', item = column 2 'book_id', header".
std::string describe_columns(const TableFormat& format);

}  // namespace bet
