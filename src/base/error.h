#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "bet/error.h"

namespace bet {

// Thrown by work that was asked to stop before its end, once what it needs to be resumed is saved.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& text) : Error(text, ErrorKind::kInterrupted) {}
};

// Joins the parts with operator<<, without separators.
template <typename... Parts>
std::string str_cat(Parts&&... parts) {
  std::ostringstream text;
  (text << ... << std::forward<Parts>(parts));
  return text.str();
}

// Throws an Error whose text is the joined parts; of kind kBadInput, or as given.
template <typename... Parts>
[[noreturn]] void fail_as(ErrorKind kind, Parts&&... parts) {
  throw Error(str_cat(std::forward<Parts>(parts)...), kind);
}
template <typename... Parts>
[[noreturn]] void fail(Parts&&... parts) {
  fail_as(ErrorKind::kBadInput, std::forward<Parts>(parts)...);
}

// The value in single quotes, fit for a message: control bytes as \xNN, cut after 60 bytes.
std::string in_quotes(std::string_view value);

}  // namespace bet

// Always on, in every build.
#define BET_CHECK(condition, ...)    \
  do {                               \
    if (!(condition)) [[unlikely]] { \
      ::bet::fail(__VA_ARGS__);      \
    }                                \
  } while (false)
