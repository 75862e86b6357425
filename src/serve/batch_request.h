#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bet {

// The body of POST /recommend: {"users": ["a", ..], "k": 10, "with_seen": false} or
// {"items": ["x", ..], "k": 10}.
struct BatchRequest {
  static constexpr std::size_t kMaxUsers = 100;
  static constexpr std::size_t kMaxItems = 1'000;

  std::vector<std::string> users;  // one of the two lists is empty, the other is not
  std::vector<std::string> items;
  std::size_t k = 10;
  bool with_seen = false;
};

// Throws Error on anything else. Memory is used for the two lists alone, whatever the body holds.
BatchRequest parse_batch_request(std::string_view body);

}  // namespace bet
