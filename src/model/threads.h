#pragma once

namespace bet {

// Uses `count` threads (0: one per core) in everything that runs over at::parallel_for, and in
// LibTorch's own operators. LibTorch's default is 1 on some machines.
void set_num_threads(int count);
int num_threads();

// LibTorch's version, "1.13.1".
const char* torch_version();

}  // namespace bet
