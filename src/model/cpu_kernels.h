#pragma once

#include <cstddef>

#include "model/kernel_args.h"

// The CPU's kernels (kernels/kernels.h) run by several threads. Results do not depend on their
// number.

namespace bet::cpu {

void run_rows(const ActivateArgs& args, std::size_t num_rows);
void run_rows(const ActivateBackArgs& args, std::size_t num_rows);
void run_rows(const SplitArgs& args, std::size_t num_rows);
void run_rows(const NormaliseArgs& args, std::size_t num_rows);
void run_rows(const NormaliseBackArgs& args, std::size_t num_rows);
void run_rows(const QuantiseArgs& args, std::size_t num_rows);

void run_terms(const LossArgs& args);
void run_terms(const NeuMfArgs& args);

}  // namespace bet::cpu
