#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "ranks/gloo_ranks.h"

namespace bet::test {

// Runs `work` on threads that are the ranks of one group, over loopback. The text of what each
// threw, empty if nothing.
inline std::vector<std::string> errors_of_ranks(
    std::uint32_t size, const std::function<void(RankGroup&)>& work,
    std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::string> errors(size);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const auto ranks = join_gloo_ranks(
            store, {.rank = rank, .size = size, .address = "127.0.0.1", .timeout = timeout});
        work(*ranks);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

// The same where nothing may be thrown.
inline void run_ranks(std::uint32_t size, const std::function<void(RankGroup&)>& work) {
  const std::vector<std::string> errors = errors_of_ranks(size, work);
  for (std::uint32_t rank = 0; rank < size; ++rank) EXPECT_EQ(errors[rank], "") << "rank " << rank;
}

}  // namespace bet::test
