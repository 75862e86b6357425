#pragma once

#include <nlohmann/json.hpp>

#include "train/metrics.h"

namespace bet {

// {"recall@5": ..., "ndcg@5": ..., ...}; null where no user was counted.
nlohmann::ordered_json metrics_json(const Metrics& metrics);

// Back, without the number of users, which the text does not have (it is 1).
Metrics metrics_from(const nlohmann::ordered_json& json);

}  // namespace bet
