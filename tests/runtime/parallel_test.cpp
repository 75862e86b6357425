#include "runtime/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace bet {
namespace {

TEST(Parallel, EveryBlockOnceOnAnyNumberOfThreads) {
  for (const std::size_t threads : {1U, 2U, 7U}) {
    for (const std::size_t blocks : {0U, 1U, 5U, 1000U}) {
      std::vector<std::atomic<int>> times(blocks);
      std::atomic<int> strangers = 0;
      for_each_block(blocks, threads, [&](std::size_t block, std::size_t thread) {
        ++times[block];
        if (thread >= threads) ++strangers;
      });
      for (const std::atomic<int>& count : times) EXPECT_EQ(count, 1);
      EXPECT_EQ(strangers, 0);
    }
  }
}

TEST(Parallel, AnExceptionComesBack) {
  for (const std::size_t threads : {1U, 4U}) {
    EXPECT_THROW(for_each_block(50, threads,
                                [](std::size_t block, std::size_t) {
                                  if (block == 20) throw std::runtime_error("here");
                                }),
                 std::runtime_error);
  }
}

TEST(Parallel, NoMoreThreadsThanBlocks) {
  EXPECT_EQ(threads_for(0), 1U);
  EXPECT_EQ(threads_for(1), 1U);
  EXPECT_GE(threads_for(1000), 1U);
}

}  // namespace
}  // namespace bet
