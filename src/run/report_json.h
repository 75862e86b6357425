#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "run/fit_report.h"
#include "run/metrics_json.h"

namespace bet {

// The text of a JSON value on one line, or indented by so many blanks. Names that are not UTF-8 are
// written with U+FFFD in place of what is wrong.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

nlohmann::ordered_json report_json(const FitReport& report);

// report.json, as report_json() has it. Reading throws, naming the file, on anything else; metrics
// come back without the number of users, which the file does not have (it is 1).
void write_report(const FitReport& report, const std::filesystem::path& path);
FitReport read_report(const std::filesystem::path& path);

}  // namespace bet
