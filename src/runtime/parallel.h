#pragma once

#include <cstddef>
#include <functional>

namespace bet {

// Threads that are worth it for so many blocks: one a core, none without a block, at least 1.
std::size_t threads_for(std::size_t blocks);

// work(block, thread) for every block below `blocks`, in any order; thread < `threads`, of which
// each works on one block at a time. Fewer threads where the machine gives no more. An exception of
// `work` is thrown here when all threads have ended.
void for_each_block(std::size_t blocks, std::size_t threads,
                    const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace bet
