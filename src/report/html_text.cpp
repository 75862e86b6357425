#include "report/html_text.h"

#include <array>
#include <cstdio>

namespace bet {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string fixed_text(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  return fixed_text(percent, percent < 10 ? 2 : 1) + " %";
}

std::string short_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (amount /= 1000; amount >= 999.5 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
  return fixed_text(amount, amount < 10 ? 2 : amount < 100 ? 1 : 0) + " " + kUnits[unit];
}

}  // namespace bet
