#include "data/table_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/error.h"
#include "data/column_names.h"
#include "data/time_value.h"

namespace bet {
namespace {

using Fields = std::vector<std::string>;

constexpr std::size_t kSampleLines = 100;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> sample_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kSampleLines) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty()) lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// A simplified parser for a few sample lines: quotes only protect delimiters.
Fields split_fields(std::string_view line, std::string_view delimiter) {
  Fields fields;
  if (delimiter == " ") {
    while (!line.empty()) {
      const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
      fields.emplace_back(line.substr(0, end));
      line.remove_prefix(end);
      line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    }
    return fields;
  }
  std::string field;
  bool in_quotes = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i == line.size() || (!in_quotes && line.substr(i).starts_with(delimiter))) {
      fields.emplace_back(trimmed(field));
      field.clear();
      i += delimiter.size() - 1;
    } else if (line[i] == '"') {
      in_quotes = !in_quotes;
    } else {
      field += line[i];
    }
  }
  return fields;
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string detect_delimiter(std::string_view line) {
  for (const std::string_view delimiter : {"\t", "::", ",", ";"}) {
    if (line.find(delimiter) != std::string_view::npos) return std::string(delimiter);
  }
  return " ";
}

std::string delimiter_of(const std::string& format, std::string_view first_line) {
  if (format == "csv") return first_line.find(',') == std::string_view::npos ? ";" : ",";
  if (format == "tsv" || format == "inter") return "\t";
  if (format == "colons") return "::";
  if (format == "blank" || format == "lightgcn") return " ";
  return detect_delimiter(first_line);
}

std::string name_of(const std::string& delimiter) {
  if (delimiter == "\t") return "tsv";
  if (delimiter == "::") return "colons";
  return delimiter == " " ? "blank" : "csv";
}

bool is_whole_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

// Whether the text is a number or a date, which no column is named after.
bool is_value(const std::string& text) {
  return is_number(text) || parse_date_time(text).has_value();
}

// Whether some column has no number or date in the first line, but one in every other line.
bool has_text_above_values(const std::vector<Fields>& rows) {
  if (rows.size() < 2) return false;
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    const bool values_below = std::all_of(rows.begin() + 1, rows.end(), [&](const Fields& row) {
      return column < row.size() && is_value(row[column]);
    });
    if (values_below && !is_value(rows[0][column])) return true;
  }
  return false;
}

// Whether a field of the first line occurs again in its column.
bool first_line_occurs_again(const std::vector<Fields>& rows) {
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    if (rows[0][column].empty()) continue;
    const bool again = std::any_of(rows.begin() + 1, rows.end(), [&](const Fields& row) {
      return column < row.size() && row[column] == rows[0][column];
    });
    if (again) return true;
  }
  return false;
}

// The names separated by commas, in quotes only where needed: "user_id, book, 'one, two'".
std::string list_columns(const Fields& names) {
  constexpr std::size_t kMaxListed = 20;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxListed; ++i) {
    const bool is_plain = !names[i].empty() && names[i].find_first_of(", '") == std::string::npos &&
                          in_quotes(names[i]) == "'" + names[i] + "'";
    text += (text.empty() ? "" : ", ") + (is_plain ? names[i] : in_quotes(names[i]));
  }
  return names.size() > kMaxListed ? text + ", ..." : text;
}

// The column that an option names: by header, or by number from 1.
int named_column(const TableFormat& format, const std::string& wanted, const std::string& source,
                 std::string_view option) {
  const Fields& first = format.first_line;
  for (std::size_t i = 0; i < first.size() && format.header; ++i) {
    if (first[i] == wanted || first[i].substr(0, first[i].find(':')) == wanted) {
      return static_cast<int>(i);
    }
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  BET_CHECK(error == std::errc() && end == wanted.data() + wanted.size() && number >= 1 &&
                number <= first.size(),
            source, ":1: ", option, ": no column ", in_quotes(wanted), "; ",
            format.header ? "the columns are " + list_columns(first)
                          : str_cat("there are columns 1 to ", first.size(), " and no header"));
  return static_cast<int>(number) - 1;
}

bool is_adjacency(const std::vector<Fields>& rows) {
  bool odd_width = false;
  for (const Fields& row : rows) {
    odd_width = odd_width || row.size() > 4 || row.size() != rows[0].size();
    if (!std::all_of(row.begin(), row.end(), is_number)) return false;
  }
  return odd_width;
}

// Without a header the columns are user, item, rating and time. A third column without any number
// is not a rating, and one that begins with a date is the time.
void set_headerless_columns(TableFormat& format, const std::vector<Fields>& rows) {
  const Fields& first = format.first_line;
  if (first.size() >= 4) format.time = 3;
  if (first.size() < 3) return;
  if (parse_date_time(first[2])) {
    format.time = 2;
  } else if (std::any_of(rows.begin(), rows.end(),
                         [](const Fields& row) { return row.size() > 2 && is_number(row[2]); })) {
    format.rating = 2;
  }
}

// Decides whether the first line is a header, and whether that is in doubt.
void decide_header(TableFormat& format, const std::vector<Fields>& rows, const FormatHints& hints) {
  if (hints.no_header) return;
  const bool named = !is_whole_number(hints.user_col) || !is_whole_number(hints.item_col) ||
                     !is_whole_number(hints.rating_col) || !is_whole_number(hints.time_col);
  format.header = named || format.name == "inter";
  if (format.header) return;
  int known_names = 0;
  for (const ColumnRole role :
       {ColumnRole::kUser, ColumnRole::kItem, ColumnRole::kRating, ColumnRole::kTime}) {
    if (find_column(format.first_line, role) >= 0) ++known_names;
  }
  const bool has_value = std::any_of(format.first_line.begin(), format.first_line.end(), is_value);
  const bool is_data = (has_value && known_names == 0) || first_line_occurs_again(rows);
  if (known_names < 2 && is_data) return;
  format.header =
      known_names >= 2 || (!has_value && (known_names == 1 || has_text_above_values(rows)));
  format.header_in_doubt = true;
}

// One of the four columns, and the option that chooses it.
struct RoleColumn {
  ColumnRole role;
  std::string_view option;
  const std::string& wanted;  // the option's value; empty if not given
  int& column;
};

// Where either the user or the item column is missing and only one column has no role, takes it.
void assign_last_column(TableFormat& format) {
  if ((format.user < 0) == (format.item < 0)) return;
  int left = -1;
  for (int column = 0; column < static_cast<int>(format.first_line.size()); ++column) {
    if (column == format.user || column == format.item || column == format.rating ||
        column == format.time) {
      continue;
    }
    if (left >= 0) return;
    left = column;
  }
  (format.user < 0 ? format.user : format.item) = left;
}

void set_columns(TableFormat& format, const std::vector<Fields>& rows, const FormatHints& hints,
                 const std::string& source) {
  decide_header(format, rows, hints);
  const std::array<RoleColumn, 4> columns = {{
      {ColumnRole::kUser, "--user-col", hints.user_col, format.user},
      {ColumnRole::kItem, "--item-col", hints.item_col, format.item},
      {ColumnRole::kRating, "--rating-col", hints.rating_col, format.rating},
      {ColumnRole::kTime, "--time-col", hints.time_col, format.time},
  }};
  if (format.header) {
    for (const RoleColumn& each : columns) each.column = find_column(format.first_line, each.role);
  } else {
    set_headerless_columns(format, rows);
  }
  for (const RoleColumn& each : columns) {
    if (!each.wanted.empty()) {
      each.column = named_column(format, each.wanted, source, each.option);
    }
  }
  // A column that was chosen by an option has no other role, whatever its name or position.
  for (const RoleColumn& given : columns) {
    for (const RoleColumn& other : columns) {
      if (given.wanted.empty() || &other == &given || other.column != given.column) continue;
      BET_CHECK(other.wanted.empty(), source, ":1: ", given.option, " and ", other.option,
                " are the same column, number ", given.column + 1);
      other.column = -1;
    }
  }
  assign_last_column(format);
  BET_CHECK(format.user >= 0 && format.item >= 0, source,
            ":1: cannot tell which columns are user and item; the columns are ",
            list_columns(format.first_line), "; name them with --user-col and --item-col",
            format.header_in_doubt ? ", or give --no-header if the first line is data" : "");
}

}  // namespace

bool FormatHints::has_columns() const {
  return !user_col.empty() || !item_col.empty() || !rating_col.empty() || !time_col.empty();
}

TableFormat detect_format(std::string_view first_lines, const std::string& source,
                          const FormatHints& hints) {
  static constexpr std::array<std::string_view, 7> kFormats = {"auto",  "lightgcn", "csv",   "tsv",
                                                               "inter", "blank",    "colons"};
  const std::string wanted = hints.format.empty() ? "auto" : hints.format;
  BET_CHECK(std::find(kFormats.begin(), kFormats.end(), wanted) != kFormats.end(),
            "unknown format ", in_quotes(wanted),
            "; it is auto, lightgcn, csv, tsv, inter, blank or colons");
  const std::vector<std::string_view> lines = sample_lines(first_lines);
  BET_CHECK(!lines.empty(), source, ": empty file");

  TableFormat format;
  std::string named = wanted;
  if (named == "auto" && source.find(".inter") != std::string::npos) named = "inter";
  format.delimiter = delimiter_of(named, lines[0]);
  format.name = named == "auto" ? name_of(format.delimiter) : named;
  std::vector<Fields> rows;
  rows.reserve(lines.size());
  for (const std::string_view line : lines) rows.push_back(split_fields(line, format.delimiter));

  BET_CHECK(named != "lightgcn" || !hints.has_columns(), source,
            ": format lightgcn has no columns to choose from with --user-col, --item-col, "
            "--rating-col or --time-col");
  if (named == "lightgcn" ||
      (named == "auto" && format.delimiter == " " && !hints.has_columns() && is_adjacency(rows))) {
    format.adjacency = true;
    format.name = "lightgcn";
    return format;
  }
  BET_CHECK(rows[0].size() >= 2, source, ":1: only one column, ", in_quotes(rows[0][0]),
            "; a line needs a user and an item");
  format.first_line = rows[0];
  set_columns(format, rows, hints, source);
  return format;
}

void check_first_line(const TableFormat& format, const std::string& source, bool occurs_again) {
  if (!format.header_in_doubt || format.header != occurs_again) return;
  const std::string user = in_quotes(format.first_line[format.user]);
  const std::string item = in_quotes(format.first_line[format.item]);
  fail(source, ":1: cannot tell whether the first line, ", list_columns(format.first_line),
       ", is a header: ",
       format.header
           ? "it looks like one, but user " + user + " or item " + item + " occurs again below it"
           : "it has no common column names, and neither user " + user + " nor item " + item +
                 " occurs again below it",
       "; give --no-header if it is data, or --user-col ", user, " --item-col ", item,
       " if it is a header");
}

std::string describe_columns(const TableFormat& format) {
  if (format.adjacency) return "a user and its items on each line, no header";
  std::string text;
  const auto add = [&](const char* role, int column) {
    if (column < 0) return;
    text += str_cat(role, " = column ", column + 1);
    if (format.header) text += " " + in_quotes(format.first_line[column]);
    text += ", ";
  };
  add("user", format.user);
  add("item", format.item);
  add("rating", format.rating);
  add("time", format.time);
  return text + (format.header ? "header" : "no header");
}

}  // namespace bet
