#pragma once

#include <cstdint>

#include "base/rank_group.h"
#include "model/model_parameters.h"

namespace bet {

// How a user's row u and an item's row v of a table of vectors make a score: the dot product of
// `columns` and, where there are hidden units (NCF), the sum of max(u + v, 0) over the positive
// ones less that over the negative ones. The head is folded into the rows.
struct Scoring {
  Scoring(const ModelColumns& dot) : columns(dot) {}
  Scoring(std::uint32_t first, std::uint32_t width) : columns{first, width} {}

  ModelColumns columns;
  std::uint32_t first_hidden = 0;  // the column of the first unit, a positive one
  std::uint32_t num_positive = 0;
  std::uint32_t num_negative = 0;  // they follow the positive ones
  // Not null: a score is the sum of the ranks' dot products, each of its own columns.
  RankGroup* ranks = nullptr;

  std::uint32_t num_hidden() const { return num_positive + num_negative; }
};

}  // namespace bet
