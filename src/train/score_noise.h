#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bet {

// The part of a score by which another must be better where less may be noise: of so many users who
// are measured, each of them in so many folds.
inline double score_noise(std::size_t num_users, std::size_t num_folds = 1) {
  return 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(num_users * num_folds, 1)));
}

}  // namespace bet
