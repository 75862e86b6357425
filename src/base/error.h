#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/supported_machine.h"
#include "bet/error.h"

namespace bet {

// Thrown by work that was asked to stop before its end, once what it needs to be resumed is saved.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& text) : Error(text, ErrorKind::kInterrupted) {}
};

// As operator<< writes it, in six digits.
void append_real(std::string& text, double value);

// Appends the part as operator<< writes it. Texts and numbers go without a stream: streams bring
// the library's locales, which are half of a WebAssembly module.
template <typename Part>
void append_part(std::string& text, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    text += std::string_view(part);
  } else if constexpr (std::is_floating_point_v<Part>) {
    append_real(text, static_cast<double>(part));
  } else if constexpr (std::is_integral_v<Part> &&
                       (sizeof(Part) > 1 || std::is_same_v<Part, bool>)) {
    text += std::to_string(part);
  } else if constexpr (std::is_integral_v<Part>) {
    text += static_cast<char>(part);
  } else {
    std::ostringstream stream;
    stream << part;
    text += stream.str();
  }
}

// Joins the parts without separators.
template <typename... Parts>
std::string str_cat(const Parts&... parts) {
  std::string text;
  (append_part(text, parts), ...);
  return text;
}

// Throws an Error whose text is the joined parts; of kind kBadInput, or as given.
template <typename... Parts>
[[noreturn]] void fail_as(ErrorKind kind, const Parts&... parts) {
  throw Error(str_cat(parts...), kind);
}
template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  fail_as(ErrorKind::kBadInput, parts...);
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
