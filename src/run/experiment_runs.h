#pragma once

#include <string>
#include <vector>

#include "run/experiment.h"

namespace bet {

inline constexpr const char* kPaperBudgets[] = {"20%", "10%", "5%"};
inline constexpr const char* kPaperBackbones[] = {"lightgcn", "ngcf", "ncf"};

// Methods of Table 1 in the order of the paper; then the search of this program's own and, as
// bet-paper, that of the paper.
inline constexpr const char* kOwnSizeMethods[] = {"esapn", "optembed"};
inline constexpr const char* kOtherMethods[] = {"pep", "es", "mr", "ciess"};

// A variant of bet-paper.
struct PaperVariant {
  std::string label;   // in tables
  std::string suffix;  // in names of folders and filters; empty: as the paper has it by default
};
std::vector<PaperVariant> paper_variants(ExperimentKind kind);

// The runs that the job asks for, and those others of the experiment that are complete.
std::vector<ComparedRun> experiment_runs(const ExperimentJob& job,
                                         const std::filesystem::path& folder);

}  // namespace bet
