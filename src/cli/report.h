#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plan/budget.h"
#include "train/metrics.h"

namespace bet {

// {"recall@5": ..., "ndcg@5": ..., ...}; null where no user was counted.
nlohmann::ordered_json metrics_json(const Metrics& metrics);

// The text of a JSON value on one line, or indented by so many blanks. Names that are not UTF-8 are
// written with U+FFFD in place of what is wrong.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

// What made a run: {"bet", "torch", "kernels"}.
nlohmann::ordered_json versions_json();

}  // namespace bet
