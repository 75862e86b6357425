#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "data/split.h"

namespace bet {

// The number of users whose mean a score on validation is; if a fold of `folds` holds out only a
// part of these items (denser_split), the mean of this number over the folds.
inline double measured_users(const Split& split, std::size_t folds = 1) {
  std::size_t sum = 0;
  for (UserId user = 0; user < split.num_users(); ++user) {
    sum += std::min(split.validation(user).size(), folds);
  }
  return static_cast<double>(sum) / static_cast<double>(folds);
}

// The part of a score by which another must be better where less may be noise: of so many users who
// are measured, each of them in so many folds.
inline double score_noise(double num_users, std::size_t num_folds = 1) {
  return 1 / std::sqrt(std::max(num_users * static_cast<double>(num_folds), 1.0));
}

}  // namespace bet
