#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bet {

// The page of a run (report.html) from its report.json, whose keys are in docs/report.md: one file
// of HTML that loads nothing and has no script. What a report does not have is left out of it.
// Throws nlohmann::json::exception on what is not a report.
std::string report_page(const nlohmann::ordered_json& report);

}  // namespace bet
