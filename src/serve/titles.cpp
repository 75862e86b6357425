#include "serve/titles.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "serve/folded_text.h"

namespace bet {
namespace {

// Reads the records of a text, quoted as in RFC 4180; lines end with LF or CR LF.
class RecordReader {
 public:
  RecordReader(std::string_view text, std::string source, char delimiter)
      : text_(text), source_(std::move(source)), delimiter_(delimiter) {}

  // The next record that is not an empty line; false at the end.
  bool next(std::vector<std::string>& fields) {
    do {
      if (at_ == text_.size()) return false;
      fields.clear();
      first_line_ = line_;
      do {
        fields.push_back(field());
      } while (takes(delimiter_));
      end_record();
    } while (fields.size() == 1 && fields[0].empty());
    return true;
  }

  // Where the last record began, for errors: "items.csv:17".
  std::string place() const { return str_cat(source_, ':', first_line_); }

 private:
  bool takes(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void end_record() {
    takes('\r');
    BET_CHECK(at_ == text_.size() || takes('\n'), place(), ": text behind a closing quote");
    ++line_;
  }

  std::string field() {
    if (takes('"')) return quoted_field();
    const std::size_t end = std::min(text_.find_first_of(stops_, at_), text_.size());
    std::string value(text_.substr(at_, end - at_));
    at_ = end;
    if (value.ends_with('\r')) value.pop_back();
    return value;
  }

  std::string quoted_field() {
    std::string value;
    for (;;) {
      const std::size_t end = text_.find('"', at_);
      BET_CHECK(end != std::string_view::npos, place(), ": a quote that is not closed");
      const std::string_view part = text_.substr(at_, end - at_);
      line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
      value += part;
      at_ = end + 1;
      if (!takes('"')) return value;
      value += '"';
    }
  }

  std::string_view text_;
  std::string source_;
  char delimiter_;
  std::string stops_ = {delimiter_, '\n'};
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t first_line_ = 1;
};

struct TitleColumns {
  std::size_t item = 0;
  std::size_t title = 1;
  bool has_header = false;
};

// By the names in the first record, if they are names.
TitleColumns find_columns(const std::vector<std::string>& first) {
  std::vector<std::string> names(first.size());
  std::transform(first.begin(), first.end(), names.begin(), folded_text);
  const auto is_title = [](const std::string& name) { return name == "title" || name == "name"; };
  const auto is_id = [](const std::string& name) { return name.ends_with("id") || name == "item"; };
  const auto title = std::find_if(names.begin(), names.end(), is_title);
  const auto item = std::find_if(names.begin(), names.end(), is_id);
  if (title == names.end() || item == names.end()) return {};
  return {static_cast<std::size_t>(item - names.begin()),
          static_cast<std::size_t>(title - names.begin()), true};
}

// A tab where the first line has one, else a comma.
char find_delimiter(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.find('\t') != std::string_view::npos ? '\t' : ',';
}

std::string whole_file(const std::string& path) {
  std::error_code ignored;  // opening the file reports what is wrong
  BET_CHECK(!std::filesystem::is_directory(path, ignored), path,
            ": is a folder, expected a file of titles");
  std::ifstream file(path, std::ios::binary);
  BET_CHECK(file.is_open(), path, ": ", system_message());
  std::string text;
  std::vector<char> block(std::size_t{1} << 20U);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    BET_CHECK(text.size() <= Titles::kMaxFileBytes, path, ": has more than ", Titles::kMaxFileBytes,
              " bytes, the most that titles may have");
  }
  BET_CHECK(!file.bad(), path, ": ", system_message());
  return text;
}

}  // namespace

Titles Titles::read(const std::string& path) { return parse(whole_file(path), path); }

Titles Titles::parse(std::string_view text, const std::string& source) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  RecordReader records(text, source, find_delimiter(text));
  Titles titles;
  TitleColumns columns;
  std::vector<std::string> fields;
  for (bool is_first = true; records.next(fields); is_first = false) {
    if (is_first) {
      columns = find_columns(fields);
      if (columns.has_header) continue;
    }
    BET_CHECK(fields.size() > std::max(columns.item, columns.title), records.place(), ": has ",
              fields.size(), " columns; the ", columns.has_header ? "named ones" : "id and title",
              " are columns ", columns.item + 1, " and ", columns.title + 1);
    std::string& title = fields[columns.title];
    BET_CHECK(is_utf8(title), records.place(), ": the title is not UTF-8");
    BET_CHECK(title.size() <= kMaxTitleBytes, records.place(), ": a title of ", title.size(),
              " bytes; at most ", kMaxTitleBytes, " are allowed");
    titles.add(fields[columns.item], std::move(title));
  }
  titles.sort();
  return titles;
}

void Titles::add(std::string_view item, std::string title) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  std::replace_if(title.begin(), title.end(), is_control, ' ');
  if (title.find_first_not_of(' ') == std::string::npos) return;
  const std::string folded = folded_text(title);
  entries_.push_back({text_.size(), static_cast<std::uint32_t>(item.size()),
                      static_cast<std::uint32_t>(title.size()),
                      static_cast<std::uint32_t>(folded.size())});
  text_ += item;
  text_ += title;
  text_ += folded;
}

// Later titles of an id that has one are removed.
void Titles::sort() {
  by_item_.resize(entries_.size());
  std::iota(by_item_.begin(), by_item_.end(), 0U);
  std::sort(by_item_.begin(), by_item_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int order = item(a).compare(item(b));
    return order != 0 ? order < 0 : a < b;
  });
  std::vector<bool> is_later(entries_.size(), false);
  bool has_later = false;
  for (std::size_t i = 1; i < by_item_.size(); ++i) {
    if (item(by_item_[i]) != item(by_item_[i - 1])) continue;
    is_later[by_item_[i]] = has_later = true;
  }
  if (!has_later) return;
  std::vector<Entry> kept;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!is_later[i]) kept.push_back(entries_[i]);
  }
  entries_ = std::move(kept);
  sort();
}

std::string_view Titles::item(std::size_t i) const {
  return std::string_view(text_).substr(entries_[i].item, entries_[i].item_bytes);
}

std::string_view Titles::title(std::size_t i) const {
  const Entry& entry = entries_[i];
  return std::string_view(text_).substr(entry.item + entry.item_bytes, entry.title_bytes);
}

std::string_view Titles::folded(std::size_t i) const {
  const Entry& entry = entries_[i];
  return std::string_view(text_).substr(entry.item + entry.item_bytes + entry.title_bytes,
                                        entry.folded_bytes);
}

std::string_view Titles::of(std::string_view wanted) const {
  const auto found =
      std::lower_bound(by_item_.begin(), by_item_.end(), wanted,
                       [this](std::uint32_t i, std::string_view id) { return item(i) < id; });
  if (found == by_item_.end() || item(*found) != wanted) return {};
  return title(*found);
}

std::size_t Titles::count_known(const Model& model) const {
  std::size_t known = 0;
  for (std::size_t i = 0; i < size(); ++i) known += model.has_item(item(i)) ? 1 : 0;
  return known;
}

}  // namespace bet
