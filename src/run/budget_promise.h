#pragma once

#include <cstdint>

#include "run/export_choice.h"

namespace bet {

// The promise of a memory budget, checked on numbers; each throws with kind kBudget where it would
// be broken.

// Before anything is trained: propagated vectors that are rounded after training are as wide as the
// plan's largest size, which is at least the mean size.
void check_vectors_can_fit(const TableShape& shape, const ResolvedBudget& budget,
                           const FitOptions& resolved);

// On a plan that is about to be trained.
void check_plan_fits(const SizePlan& plan, const ResolvedBudget& budget,
                     const ExportChoice& choice);

// On the bytes of a file that is about to be written, and of the table in it; without a budget
// nothing is checked.
void check_file_fits(std::uint64_t table_bytes, std::uint64_t file_bytes, const FitOptions& options,
                     const ExportChoice& choice, const TableShape& shape);

}  // namespace bet
