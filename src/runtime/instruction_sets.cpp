#include "runtime/instruction_sets.h"

#include <algorithm>
#include <atomic>

namespace bet {
namespace {

std::atomic<std::size_t> most_sets = kMostInstructionSets;

std::size_t num_runnable() {
  static const std::size_t once = []() -> std::size_t {
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
      return 2;
    }
    return 3;
#else
    return 1;
#endif
  }();
  return once;
}

}  // namespace

std::size_t num_instruction_sets() {
  return std::min(num_runnable(), most_sets.load(std::memory_order_relaxed));
}

void limit_instruction_sets(std::size_t most) { most_sets = std::max<std::size_t>(most, 1); }

}  // namespace bet
