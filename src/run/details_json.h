#pragma once

#include <nlohmann/json.hpp>

#include "run/run_details.h"

namespace bet {

// The keys of report.json that RunDetails has (docs/report.md). What a run does not have is left
// out; what is left out is not there when read back.
void add_details(const RunDetails& details, nlohmann::ordered_json& json);
RunDetails details_from(const nlohmann::ordered_json& json);

}  // namespace bet
