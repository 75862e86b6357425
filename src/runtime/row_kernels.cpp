#include "runtime/row_kernels.h"

#include <array>

#include "runtime/instruction_sets.h"

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

#ifdef __x86_64__
constexpr std::array<const RowKernels*, kMostInstructionSets> kRowSets = {
    &row_plain::kRowKernels, &row_avx2::kRowKernels, &row_avx512::kRowKernels};
#else
constexpr std::array<const RowKernels*, 1> kRowSets = {&row_plain::kRowKernels};
#endif

}  // namespace

const RowKernels& row_kernels() { return row_kernels(num_row_kernels() - 1); }
std::size_t num_row_kernels() { return num_instruction_sets(); }
const RowKernels& row_kernels(std::size_t index) { return *kRowSets[index]; }

}  // namespace bet
