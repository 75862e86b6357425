#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/row_section.h"

namespace bet {

// The rows of two sections in one.
struct MergedRows {
  std::string bytes;
  std::vector<std::uint32_t> first, second;  // where each row of the two is now
};

// Of each size first the rows of `first`, then those of `second`, each as stored, to the bit, and
// in their order. Both are of this form and have been checked (RowSection).
MergedRows merge_rows(Bytes first, Bytes second, const RowForm& form);

}  // namespace bet
