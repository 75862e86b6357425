#include "base/option.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace bet {
namespace {

template <typename Number>
Number parse_number(const std::string& text, const char* what) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  BET_CHECK(error != std::errc::result_out_of_range, text, " is too large");
  BET_CHECK(error == std::errc() && rest == end, in_quotes(text), " is not ", what);
  return value;
}

}  // namespace

std::uint64_t parse_unsigned(const std::string& text) {
  return parse_number<std::uint64_t>(text, "a whole number of 0 or more");
}

double parse_real(const std::string& text) {
  const auto value = parse_number<double>(text, "a number");
  BET_CHECK(std::isfinite(value), in_quotes(text), " is not a finite number");
  return value;
}

std::string shortest_text(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    // Not std::stod, which throws on numbers below the smallest normal one.
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

}  // namespace bet
