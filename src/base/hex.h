#pragma once

#include <span>
#include <string>

namespace bet {

// Lower-case hexadecimal digits, two for each byte.
inline std::string hex_text(std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace bet
