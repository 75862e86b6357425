#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bet {

// The integer that this text is the usual way to write: "17" and "-3", not "017", "+3" or "-0".
// Nothing for other texts, and for integers outside of 64 bits.
inline std::optional<std::int64_t> integer_of(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits.front() == '0' && text.size() > 1)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace bet
