#pragma once

#include <cstddef>

namespace bet {

// The instruction sets that kernels are compiled for: 0 plain, 1 avx2, 2 avx512.
constexpr std::size_t kMostInstructionSets = 3;

// How many of them, from the first on, this machine runs: at least 1.
std::size_t num_instruction_sets();

// For tests: from now on only the first `most` of them, at least 1, are used.
void limit_instruction_sets(std::size_t most);

}  // namespace bet
