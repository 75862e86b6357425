#include "serve/item_search.h"

#include <algorithm>
#include <array>
#include <string>

#include "serve/folded_text.h"

namespace bet {
namespace {

enum Rank { kThisId, kTitleBegins, kWordsBegin, kHasWords, kIdBegins, kNumRanks, kNoMatch };

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool is_part_of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || byte >= 0x80;
}

// Whether a word of the text begins so.
bool has_word(std::string_view text, std::string_view begin) {
  for (std::size_t at = text.find(begin); at != std::string_view::npos;
       at = text.find(begin, at + 1)) {
    if (at == 0 || !is_part_of_word(text[at - 1])) return true;
  }
  return false;
}

// A query, made ready for many titles.
class TitleQuery {
 public:
  explicit TitleQuery(std::string_view query) : folded_(folded_text(query)) {
    const std::size_t begin = std::min(folded_.find_first_not_of(' '), folded_.size());
    folded_.erase(0, begin);
    folded_.erase(folded_.find_last_not_of(' ') + 1);
    words_ = words_of(folded_);
  }

  Rank rank(std::string_view title) const {
    const auto contained = [&](std::string_view word) { return title.find(word) != title.npos; };
    const auto begun = [&](std::string_view word) { return has_word(title, word); };
    if (words_.empty() || !std::all_of(words_.begin(), words_.end(), contained)) return kNoMatch;
    if (title.starts_with(folded_)) return kTitleBegins;
    return std::all_of(words_.begin(), words_.end(), begun) ? kWordsBegin : kHasWords;
  }

 private:
  std::string folded_;
  std::vector<std::string_view> words_;  // of folded_
};

}  // namespace

FoundItems find_items(const Model& model, const Titles* titles, std::string_view query,
                      std::size_t limit) {
  std::array<std::vector<std::string_view>, kNumRanks> found;
  FoundItems result;
  const auto add = [&](Rank rank, std::string_view item) {
    ++result.total;
    if (found[rank].size() < limit) found[rank].push_back(item);
  };
  const TitleQuery words(query);
  for (std::size_t i = 0; titles != nullptr && !query.empty() && i < titles->size(); ++i) {
    const Rank rank = words.rank(titles->folded(i));
    const std::string_view item = titles->item(i);
    if (rank == kNoMatch || !model.has_item(item)) continue;
    add(item == query ? kThisId : rank, item);
  }
  const auto has_matched = [&](std::string_view item) {
    return titles != nullptr && !query.empty() &&
           words.rank(folded_text(titles->of(item))) != kNoMatch;
  };
  for (std::uint32_t row = 0; row < model.num_items(); ++row) {
    const std::string_view item = model.item_id(row);
    if (!item.starts_with(query) || has_matched(item)) continue;
    add(item == query ? kThisId : kIdBegins, item);
  }
  for (const auto& items : found) {
    const std::size_t room = std::min(limit - result.items.size(), items.size());
    result.items.insert(result.items.end(), items.begin(),
                        items.begin() + static_cast<std::ptrdiff_t>(room));
  }
  return result;
}

}  // namespace bet
