#include "runtime/instruction_sets.h"

namespace bet {

std::size_t num_instruction_sets() {
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

}  // namespace bet
