#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bet {

// The page of an experiment: charts and tables. One file of HTML that loads nothing and has no
// script. `experiment` is {"title", "sentence", "charts": [{"title", "x", "y", "log_y", "series":
// [{"name", "points": [{"x", "mean", "deviation"}]}]}], "tables": [{"title", "columns", "rows",
// "notes"}]}.
std::string experiment_page(const nlohmann::ordered_json& experiment);

}  // namespace bet
