#include "data/table_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/error.h"

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

// A sketch of the real parser, enough to look at a few lines: quotes only guard delimiters.
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

// "User_ID:token" and "user id" are both "userid".
std::string plain_name(std::string_view header) {
  std::string name;
  for (const char c : header.substr(0, header.find(':'))) {
    if (c == '_' || c == '-' || c == ' ') continue;
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return name;
}

constexpr std::array<std::string_view, 9> kUserNames = {
    "userid", "user", "uid", "u", "useridx", "visitorid", "customerid", "reviewerid", "sessionid"};
constexpr std::array<std::string_view, 16> kItemNames = {
    "itemid",     "item",   "iid",    "i",       "itemidx",  "movieid",   "movie", "productid",
    "businessid", "bookid", "songid", "trackid", "artistid", "articleid", "isbn",  "asin"};
constexpr std::array<std::string_view, 6> kRatingNames = {"rating", "ratings", "stars",
                                                          "score",  "overall", "bookrating"};
constexpr std::array<std::string_view, 7> kTimeNames = {
    "timestamp", "time", "ts", "t", "unixtime", "unixreviewtime", "datetime"};

// The first column whose name is the earliest of the known ones; -1 if none.
template <std::size_t N>
int find_column(const Fields& header, const std::array<std::string_view, N>& names) {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (plain_name(header[i]) == name) return static_cast<int>(i);
    }
  }
  return -1;
}

// True where some column holds no number in the first line and numbers in all others.
bool looks_like_header(const std::vector<Fields>& rows) {
  if (rows.size() < 2) return false;
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    const bool numbers_below = std::all_of(rows.begin() + 1, rows.end(), [&](const Fields& row) {
      return column < row.size() && is_number(row[column]);
    });
    if (numbers_below && !is_number(rows[0][column])) return true;
  }
  return false;
}

std::string list_columns(const Fields& header) {
  std::string text;
  for (const std::string& name : header) text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text;
}

// The column that an option names: by header, or by number from 1.
int named_column(const Fields& first_row, const std::string& wanted, const std::string& source,
                 std::string_view option) {
  for (std::size_t i = 0; i < first_row.size(); ++i) {
    if (first_row[i] == wanted || first_row[i].substr(0, first_row[i].find(':')) == wanted) {
      return static_cast<int>(i);
    }
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  BET_CHECK(error == std::errc() && end == wanted.data() + wanted.size() && number >= 1 &&
                number <= first_row.size(),
            source, ":1: ", option, " ", in_quotes(wanted), " is neither a column name nor 1 to ",
            first_row.size(), "; the first line has ", list_columns(first_row));
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

void set_headerless_columns(TableFormat& format, std::size_t num_columns) {
  if (num_columns >= 3) format.rating = 2;
  if (num_columns >= 4) format.time = 3;
}

void set_columns(TableFormat& format, const std::vector<Fields>& rows, const FormatHints& hints,
                 const std::string& source) {
  const Fields& first = rows[0];
  const int user = find_column(first, kUserNames);
  const int item = find_column(first, kItemNames);
  const auto names_first_line = [&](const std::string& wanted) {
    return std::find_if(first.begin(), first.end(), [&](const std::string& name) {
             return !is_number(name) &&
                    (name == wanted || name.substr(0, name.find(':')) == wanted);
           }) != first.end();
  };
  format.header = format.name == "inter" || (user >= 0 && item >= 0) ||
                  names_first_line(hints.user_col) || names_first_line(hints.item_col) ||
                  looks_like_header(rows);
  if (format.header) {
    format.user = user;
    format.item = item;
    format.rating = find_column(first, kRatingNames);
    format.time = find_column(first, kTimeNames);
  } else {
    set_headerless_columns(format, first.size());
  }
  if (!hints.user_col.empty()) {
    format.user = named_column(first, hints.user_col, source, "--user-col");
  }
  if (!hints.item_col.empty()) {
    format.item = named_column(first, hints.item_col, source, "--item-col");
  }
  BET_CHECK(format.user >= 0 && format.item >= 0, source,
            ":1: cannot tell the user and item columns among ", list_columns(first),
            "; name them with --user-col and --item-col");
  BET_CHECK(format.user != format.item, source, ":1: user and item are the same column, number ",
            format.user + 1);
  // A column given as user or item is no rating or time, whatever its place says.
  if (format.rating == format.user || format.rating == format.item) format.rating = -1;
  if (format.time == format.user || format.time == format.item) format.time = -1;
}

}  // namespace

TableFormat detect_format(std::string_view first_lines, const std::string& source,
                          const FormatHints& hints) {
  static constexpr std::array<std::string_view, 7> kFormats = {"auto",  "lightgcn", "csv",   "tsv",
                                                               "inter", "blank",    "colons"};
  const std::string wanted = hints.format.empty() ? "auto" : hints.format;
  BET_CHECK(std::find(kFormats.begin(), kFormats.end(), wanted) != kFormats.end(),
            "unknown format ", in_quotes(wanted),
            "; there are auto, lightgcn, csv, tsv, inter, blank and colons");
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

  const bool columns_named = !hints.user_col.empty() || !hints.item_col.empty();
  if (named == "lightgcn" ||
      (named == "auto" && format.delimiter == " " && !columns_named && is_adjacency(rows))) {
    format.adjacency = true;
    format.name = "lightgcn";
    return format;
  }
  BET_CHECK(rows[0].size() >= 2, source, ":1: one column, ", in_quotes(rows[0][0]),
            "; a line needs a user and an item");
  set_columns(format, rows, hints, source);
  return format;
}

}  // namespace bet
