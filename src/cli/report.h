#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plan/budget.h"
#include "train/metrics.h"

namespace bet {

// {"recall@5": ..., "ndcg@5": ..., ...}; null where no user was counted.
nlohmann::ordered_json metrics_json(const Metrics& metrics);

// What made a run: {"bet", "torch", "kernels"}.
nlohmann::ordered_json versions_json();

}  // namespace bet
