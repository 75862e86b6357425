#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace bet {

// The token that requests must have ("Authorization: Bearer TOKEN").
class BearerToken {
 public:
  explicit BearerToken(std::string token) : token_(std::move(token)) {}
  // From a file that has nothing else in it but blanks and line ends after the token. Throws Error,
  // with the path, unless it is at least 16 characters of those that RFC 6750 allows.
  static BearerToken read(const std::string& path);

  // Whether the value of an Authorization field has the token. How long that takes does not depend
  // on what the token is, nor on how much of it is right.
  bool allows(std::string_view authorization) const;

 private:
  std::string token_;
};

}  // namespace bet
