#include "runtime/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace bet {

std::size_t threads_for(std::size_t blocks) {
  return std::max<std::size_t>(1,
                               std::min<std::size_t>(blocks, std::thread::hardware_concurrency()));
}

void for_each_block(std::size_t blocks, std::size_t threads,
                    const std::function<void(std::size_t, std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&](std::size_t thread) {
    try {
      for (std::size_t block = next++; block < blocks; block = next++) work(block, thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  try {
    for (std::size_t thread = 1; thread < threads; ++thread) helpers.emplace_back(run, thread);
  } catch (const std::system_error&) {
    // The system starts no more threads: those that run do all the work.
  }
  run(0);
  for (std::thread& helper : helpers) helper.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace bet
