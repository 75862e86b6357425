#include "base/nearest_word.h"

#include <algorithm>
#include <vector>

namespace bet {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i - 2, i - 1 and i of the table of distances between prefixes.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string nearest_word(std::string_view written, std::span<const std::string> words) {
  constexpr std::size_t kMinPrefix = 2;
  std::string nearest;
  std::size_t smallest = std::max<std::size_t>(written.size() / 3, 1) + 1;
  for (const std::string& word : words) {
    const std::size_t distance = edit_distance(written, word);
    if (distance < smallest) {
      smallest = distance;
      nearest = word;
    }
  }
  if (!nearest.empty() || written.size() < kMinPrefix) return nearest;
  const auto longer = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return word.starts_with(written);
  });
  return longer != words.end() ? *longer : "";
}

}  // namespace bet
