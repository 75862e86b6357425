#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace bet {

// The one error type. Thrown for anything that a file, a flag or a caller can cause; the text says
// what, with which value and where. `assert` is for what only a bug can cause.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown by work that was asked to stop before its end, once what it needs to be continued is
// saved.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// Joins the parts with operator<<, without separators.
template <typename... Parts>
std::string str_cat(Parts&&... parts) {
  std::ostringstream text;
  (text << ... << std::forward<Parts>(parts));
  return text.str();
}

// Throws an Error whose text is the joined parts.
template <typename... Parts>
[[noreturn]] void fail(Parts&&... parts) {
  throw Error(str_cat(std::forward<Parts>(parts)...));
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
