#pragma once

#include <cstdint>
#include <string>

namespace bet {

// 1234567 as "1,234,567".
inline std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

}  // namespace bet
