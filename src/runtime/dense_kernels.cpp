#include "runtime/dense_kernels.h"

#include <array>

#include "runtime/instruction_sets.h"

namespace bet {

namespace dense_plain {
extern const DenseKernels kDenseKernels;
}
#ifdef __x86_64__
namespace dense_avx2 {
extern const DenseKernels kDenseKernels;
}
namespace dense_avx512 {
extern const DenseKernels kDenseKernels;
}
#endif

namespace {

#ifdef __x86_64__
constexpr std::array<const DenseKernels*, kMostInstructionSets> kDenseSets = {
    &dense_plain::kDenseKernels, &dense_avx2::kDenseKernels, &dense_avx512::kDenseKernels};
#else
constexpr std::array<const DenseKernels*, 1> kDenseSets = {&dense_plain::kDenseKernels};
#endif

}  // namespace

const DenseKernels& dense_kernels() { return dense_kernels(num_dense_kernels() - 1); }
std::size_t num_dense_kernels() { return num_instruction_sets(); }
const DenseKernels& dense_kernels(std::size_t index) { return *kDenseSets[index]; }

}  // namespace bet
