#pragma once

#include <filesystem>
#include <string>

#include "run/fit_report.h"

namespace bet {

// What a budget comes to: "2MB: at most 2,000,000 bytes in fp32, enough for 499,742 parameters".
std::string budget_text(const ResolvedBudget& budget);

// A run's report for people: some lines, each ended.
std::string fit_summary(const FitReport& report, const std::filesystem::path& folder);

}  // namespace bet
