#pragma once

#include <cstdint>

#include "data/dataset.h"

namespace bet {

// The distribution of the number of interactions per user or per item.
struct CountSummary {
  std::uint64_t min = 0;
  std::uint64_t median = 0;  // the lower of the two middle values of an even count
  std::uint64_t max = 0;
};

struct DatasetStatistics {
  double density = 0;  // interactions / (users x items)
  CountSummary per_user;
  CountSummary per_item;
};

DatasetStatistics describe(const Dataset& dataset);

}  // namespace bet
