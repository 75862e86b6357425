#pragma once

#include <ATen/Parallel.h>

#include <atomic>
#include <cstdint>

namespace bet {

// Calls work(chunk) for chunk = 0 .. count-1, each once, on all threads: a free thread takes the
// next. Better than equal shares where chunks differ in cost, and threads stay near each other in
// memory. `work` must not care which thread runs it.
template <typename Work>
void parallel_chunks(std::int64_t count, const Work& work) {
  std::atomic<std::int64_t> next = 0;
  at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t, std::int64_t) {
    for (std::int64_t chunk = next++; chunk < count; chunk = next++) work(chunk);
  });
}

}  // namespace bet
