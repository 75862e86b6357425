#pragma once

#include <vector>

#include "data/split.h"
#include "train/metrics.h"

namespace bet {

// The quality of a ranking by user.
struct UserQuality {
  std::vector<UserId> users;      // with held-out items, ascending
  std::vector<Metrics> measures;  // of each of them by itself
};

}  // namespace bet
