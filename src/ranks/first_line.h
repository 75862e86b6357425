#pragma once

#include <string>
#include <string_view>

namespace bet {

// Of a message of c10d, which has a stack trace behind it.
inline std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace bet
