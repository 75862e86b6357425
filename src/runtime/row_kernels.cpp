#include "runtime/row_kernels.h"

#include <array>

namespace bet {

namespace row_plain {
extern const RowKernels kRowKernels;
}
#ifdef __x86_64__
namespace row_avx2 {
extern const RowKernels kRowKernels;
}
namespace row_avx512 {
extern const RowKernels kRowKernels;
}
#endif

namespace {

struct Found {
  std::array<const RowKernels*, 3> sets{};
  std::size_t count = 0;
};

const Found& found() {
  static const Found once = [] {
    Found sets;
    sets.sets[sets.count++] = &row_plain::kRowKernels;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      sets.sets[sets.count++] = &row_avx2::kRowKernels;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        sets.sets[sets.count++] = &row_avx512::kRowKernels;
      }
    }
#endif
    return sets;
  }();
  return once;
}

}  // namespace

const RowKernels& row_kernels() { return row_kernels(num_row_kernels() - 1); }
std::size_t num_row_kernels() { return found().count; }
const RowKernels& row_kernels(std::size_t index) { return *found().sets[index]; }

}  // namespace bet
