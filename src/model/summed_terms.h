#pragma once

#include "base/rank_group.h"
#include "kernels/kernels.h"

namespace bet {

// Losses and contributions of a batch whose vectors are divided by columns among ranks: the scores
// of some entries at a time are summed over the ranks, while the next ones are computed. Every rank
// then has the same losses, and the contributions of its own columns. On the CPU; the result does
// not depend on the number of threads. A step sends for each rank
//   2 (size - 1) / size * 4 bytes * entries * (1, or with pools 1 + pool).
void run_summed_terms(const LossArgs& args, RankGroup& ranks);

}  // namespace bet
