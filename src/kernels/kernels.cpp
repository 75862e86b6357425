#include "kernels/kernels.h"

#include <array>

namespace bet {

namespace cpu_plain {
extern const Kernels kKernels;
}
#ifdef __x86_64__
namespace cpu_avx2 {
extern const Kernels kKernels;
}
namespace cpu_avx512 {
extern const Kernels kKernels;
}
#endif

namespace {

struct Found {
  std::array<const Kernels*, 3> sets{};
  std::size_t count = 0;
};

Found find_runnable() {
  Found found;
  found.sets[found.count++] = &cpu_plain::kKernels;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.sets[found.count++] = &cpu_avx2::kKernels;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      found.sets[found.count++] = &cpu_avx512::kKernels;
    }
  }
#endif
  return found;
}

const Found& runnable() {
  static const Found found = find_runnable();
  return found;
}

}  // namespace

const Kernels& kernels() { return *runnable().sets[runnable().count - 1]; }

KernelList runnable_kernels() {
  return {runnable().sets.data(), runnable().sets.data() + runnable().count};
}

}  // namespace bet
