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
// For entries from the first of a block on, up to the last of one: their scores alone
// (LossArgs::scores), or loss and contributions.
void score_terms(const LossArgs& args, std::size_t begin_entry, std::size_t end_entry);
void run_terms(const LossArgs& args, std::size_t begin_entry, std::size_t end_entry);
void run_terms(const NeuMfArgs& args);

}  // namespace bet::cpu
