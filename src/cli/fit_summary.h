#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace bet {

// What a report's budget comes to: "2MB: at most 2,000,000 bytes in fp32, enough for
// 499,742 parameters".
std::string budget_text(const nlohmann::ordered_json& report);

// A run's report for people: some lines, each ended.
std::string fit_summary(const nlohmann::ordered_json& report, const std::filesystem::path& folder);

}  // namespace bet
