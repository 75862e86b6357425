#pragma once

#include <variant>

#include "kernels/kernels.h"
#include "kernels/neumf.h"
#include "kernels/ngcf.h"

namespace bet {

// The kernels that an Executor runs by the type of their arguments, so that the kernel of a new
// backbone needs no function of Executor: it takes an alternative here, an overload of
// cpu::run_rows or cpu::run_terms (model/cpu_kernels.h) and its CUDA twin (kernels/cuda_kernels.h).

// One pass over rows of about equal cost that do not depend on each other.
using RowKernel = std::variant<ActivateArgs, ActivateBackArgs, SplitArgs, NormaliseArgs,
                               NormaliseBackArgs, QuantiseArgs>;

// The loss terms of a batch and their gradients.
using TermsKernel = std::variant<LossArgs, NeuMfArgs>;

}  // namespace bet
