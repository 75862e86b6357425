#pragma once

#include <nlohmann/json.hpp>

#include "bet/model.h"

namespace bet {

// What a model file is and where its bytes go: what `inspect --json` prints and GET /model answers.
nlohmann::ordered_json model_json(const Model& model);

}  // namespace bet
