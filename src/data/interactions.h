#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/growable.h"
#include "data/id_table.h"

namespace bet {

// Interactions by user, as a compressed sparse row matrix: the items of user u are
// columns[offsets[u] .. offsets[u+1]), ascending and distinct. Moved, never copied: it may be large
// against the machine's memory.
struct Interactions {
  std::vector<std::uint64_t> offsets = {0};
  Growable<ItemId> columns;
  // By entry: the pair occurs in the source's test part only. Empty where the source has no parts.
  std::vector<bool> in_test;
  // By entry: the pair's earliest time. Empty unless times were asked for.
  Growable<double> times;

  std::uint32_t num_rows() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  std::uint64_t num_entries() const { return offsets.back(); }
  std::span<const ItemId> row(UserId user) const {
    return columns.span().subspan(offsets[user], offsets[user + 1] - offsets[user]);
  }
};

}  // namespace bet
