#pragma once

#include <cstdint>

namespace bet {

// Where a user's held-out items are in the ranking.
struct UserHits {
  std::uint32_t hits = 0;      // bit p is set if the item at position p is one of them
  std::uint32_t held_out = 0;  // how many there are, at least one

  bool operator==(const UserHits&) const = default;
};

}  // namespace bet
