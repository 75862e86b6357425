#pragma once

#include <nlohmann/json.hpp>

#include "bet/model.h"

namespace bet {

// What a model file is and where its bytes go: what `inspect --json` prints and GET /model answers.
// Has the keys of table_json, and as `budget` the result of budget_json for the file's own budget,
// or {"error": ..} where that throws.
nlohmann::ordered_json model_json(const Model& model);

}  // namespace bet
