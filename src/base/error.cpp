#include "base/error.h"

#include <cstdio>

namespace bet {

void append_real(std::string& text, double value) {
  char digits[32];
  text.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof(digits), "%g", value)));
}

std::string in_quotes(std::string_view value) {
  constexpr std::size_t kMaxShown = 60;
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = "'";
  for (const char c : value.substr(0, kMaxShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      text += c;
    }
  }
  text += value.size() > kMaxShown ? "'..." : "'";
  return text;
}

}  // namespace bet
