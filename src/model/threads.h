#pragma once

#include <cstdint>

namespace bet {

// Uses `count` threads (0: one per core; never more than cores, where each would wait for the
// others) in everything that runs over at::parallel_for, and in LibTorch's own operators.
// LibTorch's default is 1 on some machines. `processes`: that share the cores.
void set_num_threads(std::uint32_t count, std::uint32_t processes = 1);
std::uint32_t num_threads();

// LibTorch's version, "1.13.1".
const char* torch_version();

}  // namespace bet
