#pragma once

#include <cstdint>

#include "model/masked_table.h"

namespace bet {

// How a user's and an item's row of `vectors` make a score: the dot product of `columns`, and where
// there are hidden units (NCF) plus the sum of max(u + v, 0) over `num_positive` columns from
// `first_hidden` on, minus the same over the `num_negative` that follow.
struct Scoring {
  // NOLINTNEXTLINE(google-explicit-constructor): a dot product is what columns alone mean.
  Scoring(const ModelColumns& dot) : columns(dot) {}

  Scoring(std::uint32_t first, std::uint32_t width) : columns{first, width} {}

  ModelColumns columns;
  std::uint32_t first_hidden = 0;
  std::uint32_t num_positive = 0;
  std::uint32_t num_negative = 0;
};

}  // namespace bet
