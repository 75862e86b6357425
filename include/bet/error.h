#ifndef BET_ERROR_H
#define BET_ERROR_H

#include <stdexcept>
#include <string>

#include "bet/export.h"

namespace bet {

// What a caller can do about an error.
enum class ErrorKind {
  kBadInput,     // a file, an option or an argument that cannot be used
  kNotFound,     // an unknown user, item or file
  kBudget,       // a memory budget that cannot be met
  kInterrupted,  // the caller asked to stop; the work can be resumed
  kInternal,     // a defect of bet, or a machine without memory
};

// The one error type. Thrown for anything that a file, an option or a caller can cause; the text
// says what, with which value and where.
class BET_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text, ErrorKind kind = ErrorKind::kBadInput)
      : std::runtime_error(text), kind_(kind) {}

  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace bet

#endif
