#include "serve/bearer_token.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 4'096;

bool is_token_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

}  // namespace

BearerToken BearerToken::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  BET_CHECK(file.is_open(), path, ": ", system_message());
  std::array<char, kLongest + 2> bytes{};
  file.read(bytes.data(), bytes.size());
  BET_CHECK(!file.bad(), path, ": ", system_message());
  std::string_view token(bytes.data(), static_cast<std::size_t>(file.gcount()));
  while (!token.empty() &&
         std::string_view(" \t\r\n").find(token.back()) != std::string_view::npos) {
    token.remove_suffix(1);
  }
  // The message does not show the token.
  BET_CHECK(token.size() >= kShortest && token.size() <= kLongest &&
                std::all_of(token.begin(), token.end(), is_token_char),
            path, ": expected a token of ", kShortest, " to ", kLongest,
            " letters, digits and characters of -._~+/=");
  return BearerToken(std::string(token));
}

bool BearerToken::allows(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return false;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kScheme[i]) return false;
  }
  const std::string_view given = authorization.substr(kScheme.size());
  volatile unsigned char different = given.size() == token_.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    different = static_cast<unsigned char>(different |
                                           (static_cast<unsigned char>(given[i]) ^
                                            static_cast<unsigned char>(token_[i % token_.size()])));
  }
  return different == 0;
}

}  // namespace bet
