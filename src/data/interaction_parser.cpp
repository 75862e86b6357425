#include "data/interaction_parser.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/plain_number.h"
#include "data/time_value.h"

namespace bet {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(const char* begin, const char* end) {
  while (begin < end && is_blank(*begin)) ++begin;
  while (begin < end && is_blank(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The three ways to separate fields. is_delimiter() tells whether one byte ends a field, ends_at()
// whether a field ends at p, and after() where the next field begins then (nullptr at the end of
// the line). next() sets `field` to the one that begins at p and returns after() it; `scratch`
// holds the text of a quoted field.

struct BlankFields {
  static bool is_delimiter(char c) { return is_blank(c); }
  static bool ends_at(const char* p, const char* end) { return p == end || is_blank(*p); }
  static const char* after(const char* p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    return p < end ? p : nullptr;
  }
  const char* next(const char* p, const char* end, std::string_view& field, std::string&) const {
    while (p < end && is_blank(*p)) ++p;
    const char* begin = p;
    while (p < end && !is_blank(*p)) ++p;
    field = {begin, static_cast<std::size_t>(p - begin)};
    return after(p, end);
  }
};

struct ColonFields {
  static bool is_delimiter(char) { return false; }  // the delimiter has two bytes
  static bool ends_at(const char* p, const char* end) {
    return p == end || (p[0] == ':' && p + 1 < end && p[1] == ':');
  }
  static const char* after(const char* p, const char* end) { return p < end ? p + 2 : nullptr; }
  const char* next(const char* p, const char* end, std::string_view& field, std::string&) const {
    const char* begin = p;
    while (!ends_at(p, end)) ++p;
    field = trimmed(begin, p);
    return after(p, end);
  }
};

struct CharFields {
  char delimiter;

  bool is_delimiter(char c) const { return c == delimiter; }
  bool ends_at(const char* p, const char* end) const { return p == end || *p == delimiter; }
  static const char* after(const char* p, const char* end) { return p < end ? p + 1 : nullptr; }

  const char* next(const char* p, const char* end, std::string_view& field,
                   std::string& scratch) const {
    const char* begin = p;
    while (p < end && *p != delimiter) ++p;
    field = trimmed(begin, p);
    if (!field.empty() && field[0] == '"') [[unlikely]] {
      return next_quoted(field.data() + 1, end, field, scratch);
    }
    return after(p, end);
  }

 private:
  // `p` is the byte after the opening quote; "" stands for one quote.
  const char* next_quoted(const char* p, const char* end, std::string_view& field,
                          std::string& scratch) const {
    const char* begin = p;
    scratch.clear();
    for (;; ++p) {
      BET_CHECK(p < end, "unterminated quote before ",
                in_quotes({begin, static_cast<std::size_t>(end - begin)}),
                " (a quoted field must end on its line)");
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
    BET_CHECK(p == end || *p == delimiter, "text after the closing quote of ", in_quotes(scratch));
    field = trimmed(scratch.data(), scratch.data() + scratch.size());
    return after(p, end);
  }
};

double parse_rating(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  BET_CHECK(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
            "rating ", in_quotes(text), " is not a number");
  return value;
}

void check_id(std::string_view id, std::string_view what) {
  BET_CHECK(!id.empty(), "empty ", what, " id");
  BET_CHECK(id.size() <= kMaxIdBytes, what, " id of ", id.size(), " bytes is longer than ",
            kMaxIdBytes, ": ", in_quotes(id));
}

// The ids of users or of items: holds the one that was read last.
class IdColumn {
 public:
  // `what` ("user") names the column in errors; ids are numbered by `builder`.
  IdColumn(std::string_view what, IdBuilder& builder) : what_(what), builder_(builder) {}

  // Like the splitter's next(). Most ids are short integers that end where the field ends; these
  // skip trimming, quotes and checks.
  template <typename Splitter>
  const char* read(const Splitter& splitter, const char* p, const char* end) {
    const PlainNumber number = scan_plain_number(p);
    const char* const stop = p + number.length;
    if (number.length > 0 && stop <= end && splitter.ends_at(stop, end)) {
      set(p, number);
      return splitter.after(stop, end);
    }
    is_plain_ = false;
    p = splitter.next(p, end, text_, scratch_);
    check_id(text_, what_);
    return p;
  }

  // Takes a number that was scanned at p.
  void set(const char* p, const PlainNumber& number) {
    text_ = {p, static_cast<std::size_t>(number.length)};
    is_plain_ = true;
    number_ = number.value;
  }

  std::uint32_t index() {
    return is_plain_ ? builder_.index_of(text_, number_) : builder_.index_of(text_);
  }

 private:
  std::string_view what_;
  IdBuilder& builder_;
  std::string_view text_;
  bool is_plain_ = false;  // the id is the plain integer number_
  std::uint64_t number_ = 0;
  std::string scratch_;
};

enum class Role : unsigned char { kNone, kUser, kItem, kRating, kTime };

// Parses one interaction per line.
template <typename Splitter>
class TableParser {
 public:
  TableParser(Splitter splitter, const TableFormat& format, InteractionSink& sink)
      : splitter_(splitter),
        sink_(sink),
        has_rating_(format.rating >= 0),
        user_("user", sink.users),
        item_("item", sink.items) {
    BET_CHECK(has_rating_ || !sink.min_rating, "--min-rating needs a rating column");
    BET_CHECK(format.time >= 0 || !sink.with_times, "a split by time needs a time column");
    BET_CHECK(format.time >= 0 || !sink.since, "--expire needs a time column");
    assign(format.user, Role::kUser);
    assign(format.item, Role::kItem);
    if (has_rating_) assign(format.rating, Role::kRating);
    if (reads_times()) assign(format.time, Role::kTime);
    two_columns_ = roles_.size() == 2 && roles_[0] == Role::kUser;
  }

  // Parses a line of two short integers and nothing else and returns the next line; nullptr for any
  // other line. `p` is the beginning of a line that ends with '\n'.
  const char* parse_short_line(const char* p) {
    if (!two_columns_) return nullptr;
    const PlainNumber user = scan_plain_number(p);
    const char* const stop = p + user.length;
    if (user.length == 0 || !splitter_.is_delimiter(*stop)) return nullptr;
    const PlainNumber item = scan_plain_number(stop + 1);
    const char* const end = stop + 1 + item.length;
    if (item.length == 0 || *end != '\n') return nullptr;
    user_.set(p, user);
    item_.set(stop + 1, item);
    add(0.0);
    return end + 1;
  }

  void parse_line(const char* p, const char* end) {
    for (std::size_t column = 0; column < roles_.size(); ++column) {
      if (p == nullptr) [[unlikely]]
        fail_short(column);
      switch (roles_[column]) {
        case Role::kUser:
          p = user_.read(splitter_, p, end);
          break;
        case Role::kItem:
          p = item_.read(splitter_, p, end);
          break;
        case Role::kRating:
          p = splitter_.next(p, end, rating_, rating_scratch_);
          break;
        case Role::kTime:
          p = splitter_.next(p, end, time_, time_scratch_);
          break;
        case Role::kNone:
          p = splitter_.next(p, end, ignored_, ignored_scratch_);
          break;
      }
    }
    if (has_rating_) {
      const double rating = parse_rating(rating_);
      if (sink_.min_rating && rating < *sink_.min_rating) {
        ++sink_.below_min_rating;
        return;
      }
    }
    const double time = reads_times() ? parse_time(time_) : 0.0;
    if (sink_.since && time < *sink_.since) {
      ++sink_.before_since;
      return;
    }
    add(time);
  }

 private:
  void assign(int column, Role role) {
    if (roles_.size() <= static_cast<std::size_t>(column)) roles_.resize(column + 1, Role::kNone);
    roles_[column] = role;
  }

  bool reads_times() const { return sink_.with_times || sink_.since; }

  void add(double time) { sink_.log.add(user_.index(), item_.index(), sink_.in_test, time); }

  [[noreturn]] void fail_short(std::size_t found) const {
    fail(found, found == 1 ? " column" : " columns", ", but ", roles_.size(), " are needed");
  }

  Splitter splitter_;
  InteractionSink& sink_;
  bool has_rating_;
  bool two_columns_ = false;  // user, item, and no other column is read
  std::vector<Role> roles_;   // by column
  IdColumn user_;
  IdColumn item_;
  std::string_view rating_;
  std::string_view time_;
  std::string_view ignored_;
  // The texts of quoted fields.
  std::string rating_scratch_;
  std::string time_scratch_;
  std::string ignored_scratch_;
};

// Parses a user and its items per line; a user without items becomes a user all the same.
class AdjacencyParser {
 public:
  explicit AdjacencyParser(InteractionSink& sink)
      : sink_(sink), user_("user", sink.users), item_("item", sink.items) {
    BET_CHECK(!sink.min_rating, "--min-rating needs a rating column; this format has none");
    BET_CHECK(!sink.with_times, "a split by time needs a time column; this format has none");
    BET_CHECK(!sink.since, "--expire needs a time column; this format has none");
  }

  static const char* parse_short_line(const char*) { return nullptr; }

  void parse_line(const char* p, const char* end) {
    p = user_.read(splitter_, p, end);
    const UserId user = user_.index();
    while (p != nullptr) {
      p = item_.read(splitter_, p, end);
      sink_.log.add(user, item_.index(), sink_.in_test, 0.0);
    }
  }

 private:
  BlankFields splitter_;
  InteractionSink& sink_;
  IdColumn user_;
  IdColumn item_;
};

// Skips blank lines and, if asked to, the header.
template <typename Parser>
void parse_all(LineBlocks& lines, std::string_view block, bool skip_header, Parser parser) {
  for (; !block.empty(); block = lines.next()) {
    std::uint64_t line = lines.lines_before();
    try {
      const char* p = block.data();
      const char* const block_end = p + block.size();
      while (p < block_end) {
        ++line;
        if (!skip_header) {
          if (const char* next = parser.parse_short_line(p)) {
            p = next;
            continue;
          }
        }
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
    lines.set_lines_before(line);
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
