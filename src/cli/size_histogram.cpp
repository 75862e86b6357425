#include "cli/size_histogram.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/with_commas.h"

namespace bet {

std::string size_histogram(std::span<const std::uint32_t> counts) {
  constexpr std::size_t kMostBars = 16;
  constexpr std::array<const char*, 9> kBars = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::uint64_t rows = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const std::size_t largest = counts.empty() ? 0 : counts.size() - 1;
  std::vector<std::uint64_t> bars(std::min(kMostBars, largest));
  for (std::size_t size = 1; size <= largest; ++size) {
    bars[(size - 1) * bars.size() / largest] += counts[size];
  }
  std::string text = with_commas(rows) + " rows, ";
  if (largest > 0 && counts[0] > 0) text += with_commas(counts[0]) + " empty, ";
  text += "sizes 1 ";
  const std::uint64_t highest = bars.empty() ? 0 : *std::ranges::max_element(bars);
  for (const std::uint64_t bar : bars) {
    // Rounded up: the fewest rows are still seen.
    const std::uint64_t level =
        highest > 0 ? (bar * (kBars.size() - 1) + highest - 1) / highest : 0;
    text += kBars[level];
  }
  return text + " " + std::to_string(largest);
}

}  // namespace bet
