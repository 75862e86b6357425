#include "serve/bulk_recommend.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "serve/answer.h"
#include "serve/answer_titles.h"
#include "serve/id_lines.h"
#include "serve/result_file.h"

namespace bet {
namespace {

// As RFC 4180 has it.
void append_field(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

template <typename Number>
void append_number(std::string& line, Number number) {
  std::array<char, 64> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  line.append(digits.data(), error == std::errc() ? end : digits.data());
}

std::string csv_lines(std::string_view user, const std::vector<ScoredItem>& items,
                      const Titles* titles) {
  std::string lines;
  for (std::size_t i = 0; i < items.size(); ++i) {
    append_field(lines, user);
    lines += ',';
    append_number(lines, i + 1);
    lines += ',';
    append_field(lines, items[i].item);
    lines += ',';
    append_number(lines, items[i].score);
    if (titles != nullptr) {
      lines += ',';
      append_field(lines, titles->of(items[i].item));
    }
    lines += '\n';
  }
  return lines;
}

bool is_csv(const std::string& path) {
  std::string_view name = path;
  if (name.ends_with(".zst")) name.remove_suffix(4);
  BET_CHECK(name.ends_with(".csv") || name.ends_with(".jsonl"), path,
            ": expected a name that ends with .csv or .jsonl, or with .zst after it");
  return name.ends_with(".csv");
}

// The users to be answered, from the file or from the model.
class UserList {
 public:
  UserList(const Model& model, const std::string& file) : model_(model), is_all_(file.empty()) {
    if (!is_all_) ids_ = read_id_lines(file);
  }
  std::size_t size() const { return is_all_ ? model_.num_users() : ids_.size(); }
  std::string_view id(std::size_t i) const {
    return is_all_ ? model_.user_id(static_cast<std::uint32_t>(i)) : std::string_view(ids_[i]);
  }
  std::optional<std::uint32_t> row(std::size_t i) const {
    return is_all_ ? static_cast<std::uint32_t>(i) : model_.user_row(ids_[i]);
  }

 private:
  const Model& model_;
  bool is_all_;
  std::vector<std::string> ids_;
};

}  // namespace

BulkResult recommend_in_bulk(const ModelWithLists& served, const BulkOptions& options) {
  const Model& model = *served.model;
  const bool csv = is_csv(options.out);
  const UserList users(model, options.users_file);
  const std::size_t end = std::min(options.to.value_or(users.size()), users.size());
  BET_CHECK(options.from <= end, "users from ", options.from, " to ", end, ": there are ",
            users.size());
  const AnswerFilter filter(options.answer, served);
  const std::size_t k = options.answer.k;
  ResultFile file(options.out);
  const Titles* const titles = served.titles.get();
  if (csv)
    file.write(titles == nullptr ? "user,rank,item,score\n" : "user,rank,item,score,title\n");

  const auto known_lines = [&](std::string_view user, const std::vector<ScoredItem>& items) {
    return csv ? csv_lines(user, items, titles)
               : json_text(with_titles(user_answer(user, items), titles)) + "\n";
  };
  const auto unknown_lines = [&](std::string_view user) {
    if (csv && options.answer.missing == Missing::kPopular) {
      return csv_lines(user, popular_for_missing(model, k, filter.get()), titles);
    }
    if (csv) return std::string();
    return json_text(with_titles(
               batch_entry(model, std::string(user), k, filter.get(), options.answer.missing),
               titles)) +
           "\n";
  };

  BulkResult result;
  // A window of users is answered by all threads and then written: about as much memory for many
  // short answers as for few long ones. All windows are about as large, so that all users are
  // answered in the same way: many in one call are answered by other sums than few.
  const std::size_t num_users = end - options.from;
  const std::size_t largest = std::clamp<std::size_t>(1'000'000 / k, 64, 4'096);
  const std::size_t windows = (num_users + largest - 1) / largest;
  for (std::size_t window = 0; window < windows; ++window) {
    const std::size_t first = options.from + window * num_users / windows;
    const std::size_t count = options.from + (window + 1) * num_users / windows - first;
    std::vector<std::string> lines(count);
    std::vector<std::uint32_t> rows;
    std::vector<std::size_t> places;  // of the rows in the window
    for (std::size_t i = 0; i < count; ++i) {
      if (const std::optional<std::uint32_t> row = users.row(first + i)) {
        rows.push_back(*row);
        places.push_back(i);
      } else {
        lines[i] = unknown_lines(users.id(first + i));
        ++result.unknown;
      }
    }
    model.recommend_rows(
        rows, k, filter.get(),
        [&](std::size_t i, const std::vector<ScoredItem>& items) {
          lines[places[i]] = known_lines(users.id(first + places[i]), items);
        },
        options.threads);
    for (const std::string& text : lines) file.write(text);
    result.users += count;
  }
  file.commit();
  return result;
}

}  // namespace bet
