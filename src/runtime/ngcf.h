#pragma once

#include <cstdint>
#include <vector>

#include "bet/model.h"
#include "runtime/interaction_section.h"
#include "runtime/row_section.h"

namespace bet {

// What the vectors of ngcf are made of; docs/format.md: "What is served".
struct NgcfTable {
  const RowSection& users;
  const RowSection& items;
  const InteractionSection& interactions;
  std::uint32_t num_users = 0;
  std::uint32_t num_items = 0;
  std::uint32_t width = 0;  // W: columns of layer 0 as the weights take them
  std::uint32_t full = 0;   // D: columns of the other layers
};

// [users, then items; W + 3 D]. On all cores; the same on any number of them.
std::vector<float> ngcf_vectors(const NgcfTable& table, const std::vector<DenseWeights>& weights);

}  // namespace bet
