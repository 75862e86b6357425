#include "data/interaction_parser.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"

namespace bet {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(const char* begin, const char* end) {
  while (begin < end && is_blank(*begin)) ++begin;
  while (begin < end && is_blank(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The three ways to end a field. Each sets `field` to the next one of [p, end) and returns where
// the field after it begins, or nullptr when it was the line's last.

struct BlankFields {
  const char* next(const char* p, const char* end, std::string_view& field, std::string&) const {
    while (p < end && is_blank(*p)) ++p;
    const char* begin = p;
    while (p < end && !is_blank(*p)) ++p;
    field = {begin, static_cast<std::size_t>(p - begin)};
    while (p < end && is_blank(*p)) ++p;
    return p < end ? p : nullptr;
  }
};

struct ColonFields {
  const char* next(const char* p, const char* end, std::string_view& field, std::string&) const {
    const char* begin = p;
    while (p < end && !(p[0] == ':' && p + 1 < end && p[1] == ':')) ++p;
    field = trimmed(begin, p);
    return p < end ? p + 2 : nullptr;
  }
};

struct CharFields {
  char delimiter;

  const char* next(const char* p, const char* end, std::string_view& field,
                   std::string& scratch) const {
    const char* begin = p;
    while (p < end && *p != delimiter) ++p;
    field = trimmed(begin, p);
    if (!field.empty() && field[0] == '"') [[unlikely]] {
      return next_quoted(field.data() + 1, end, field, scratch);
    }
    return p < end ? p + 1 : nullptr;
  }

 private:
  // `p` stands behind the opening quote; "" inside is a quote.
  const char* next_quoted(const char* p, const char* end, std::string_view& field,
                          std::string& scratch) const {
    const char* begin = p;
    scratch.clear();
    for (;; ++p) {
      BET_CHECK(p < end, "unterminated quote before ",
                quoted({begin, static_cast<std::size_t>(end - begin)}),
                " (a quoted field ends on its line)");
      if (*p == '"') {
        if (p + 1 < end && p[1] == '"') {
          ++p;
        } else {
          break;
        }
      }
      scratch += *p;
    }
    ++p;
    while (p < end && is_blank(*p) && *p != delimiter) ++p;
    BET_CHECK(p == end || *p == delimiter, "text behind a closing quote, after ", quoted(scratch));
    field = trimmed(scratch.data(), scratch.data() + scratch.size());
    return p < end ? p + 1 : nullptr;
  }
};

double parse_number(std::string_view text, std::string_view what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  BET_CHECK(error == std::errc() && end == text.data() + text.size() && std::isfinite(value), what,
            " ", quoted(text), " is not a number");
  return value;
}

void check_id(std::string_view id, std::string_view what) {
  BET_CHECK(!id.empty(), "empty ", what, " id");
  BET_CHECK(id.size() <= kMaxIdBytes, what, " id of ", id.size(), " bytes, at most ", kMaxIdBytes,
            " are taken: ", quoted(id));
}

enum Role : int { kUser, kItem, kRating, kTime, kNumRoles, kNone = -1 };

// One interaction a line.
template <typename Splitter>
class TableParser {
 public:
  TableParser(Splitter splitter, const TableFormat& format, InteractionSink& sink)
      : splitter_(splitter), sink_(sink), has_rating_(format.rating >= 0) {
    BET_CHECK(has_rating_ || !sink.min_rating, "--min-rating needs a rating column");
    BET_CHECK(format.time >= 0 || !sink.with_times, "a split by time needs a time column");
    assign(format.user, kUser);
    assign(format.item, kItem);
    if (has_rating_) assign(format.rating, kRating);
    if (sink.with_times) assign(format.time, kTime);
  }

  void parse_line(const char* p, const char* end) {
    for (std::size_t column = 0; column < roles_.size(); ++column) {
      if (p == nullptr) [[unlikely]] fail_short(column);
      const int role = roles_[column];
      p = splitter_.next(p, end, role >= 0 ? fields_[role] : ignored_,
                         scratch_[role >= 0 ? role : 0]);
    }
    check_id(fields_[kUser], "user");
    check_id(fields_[kItem], "item");
    if (has_rating_) {
      const double rating = parse_number(fields_[kRating], "rating");
      if (sink_.min_rating && rating < *sink_.min_rating) {
        ++sink_.below_min_rating;
        return;
      }
    }
    const double time = sink_.with_times ? parse_number(fields_[kTime], "time") : 0.0;
    sink_.log.add(sink_.users.index_of(fields_[kUser]), sink_.items.index_of(fields_[kItem]),
                  sink_.in_test, time);
  }

 private:
  void assign(int column, Role role) {
    if (roles_.size() <= static_cast<std::size_t>(column)) roles_.resize(column + 1, kNone);
    roles_[column] = role;
  }

  [[noreturn]] void fail_short(std::size_t found) const {
    fail(found, found == 1 ? " column, " : " columns, ", roles_.size(), " are needed");
  }

  Splitter splitter_;
  InteractionSink& sink_;
  bool has_rating_;
  std::vector<int> roles_;  // by column
  std::array<std::string_view, kNumRoles> fields_;
  std::array<std::string, kNumRoles> scratch_;
  std::string_view ignored_;
};

// A user and its items a line; a user without items is known all the same.
class AdjacencyParser {
 public:
  explicit AdjacencyParser(InteractionSink& sink) : sink_(sink) {
    BET_CHECK(!sink.min_rating, "--min-rating needs a rating column; this format has none");
    BET_CHECK(!sink.with_times, "a split by time needs a time column; this format has none");
  }

  void parse_line(const char* p, const char* end) {
    p = splitter_.next(p, end, field_, scratch_);
    check_id(field_, "user");
    const UserId user = sink_.users.index_of(field_);
    while (p != nullptr) {
      p = splitter_.next(p, end, field_, scratch_);
      check_id(field_, "item");
      sink_.log.add(user, sink_.items.index_of(field_), sink_.in_test, 0.0);
    }
  }

 private:
  BlankFields splitter_;
  InteractionSink& sink_;
  std::string_view field_;
  std::string scratch_;
};

template <typename Parser>
void parse_all(LineBlocks& lines, std::string_view block, bool skip_header, Parser parser) {
  for (; !block.empty(); block = lines.next()) {
    std::uint64_t line = lines.lines_before();
    try {
      const char* p = block.data();
      const char* const block_end = p + block.size();
      while (p < block_end) {
        ++line;
        const char* newline =
            static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(block_end - p)));
        const char* end = newline;
        if (end > p && end[-1] == '\r') --end;
        const char* first = p;
        while (first < end && is_blank(*first)) ++first;
        if (first < end) {
          if (skip_header) {
            skip_header = false;
          } else {
            parser.parse_line(p, end);
          }
        }
        p = newline + 1;
      }
    } catch (const Error& error) {
      fail(lines.name(), ":", line, ": ", error.what());
    }
  }
}

}  // namespace

void parse_interactions(LineBlocks& lines, std::string_view block, const TableFormat& format,
                        InteractionSink& sink) {
  if (format.adjacency) {
    parse_all(lines, block, false, AdjacencyParser(sink));
  } else if (format.delimiter == " ") {
    parse_all(lines, block, format.header, TableParser(BlankFields{}, format, sink));
  } else if (format.delimiter == "::") {
    parse_all(lines, block, format.header, TableParser(ColonFields{}, format, sink));
  } else {
    parse_all(lines, block, format.header,
              TableParser(CharFields{format.delimiter[0]}, format, sink));
  }
}

}  // namespace bet
