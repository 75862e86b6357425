#pragma once

#include <cstddef>
#include <functional>

namespace bet {

// The number of threads to use for so many blocks: one per core, at most one per block, at least 1.
std::size_t threads_for(std::size_t blocks);

// Calls work(block, thread) for every block below `blocks`, in any order; thread < `threads`, and
// each thread works on one block at a time. Uses fewer threads where the system refuses to start
// more. An exception of `work` is rethrown when all threads have ended.
void for_each_block(std::size_t blocks, std::size_t threads,
                    const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace bet
