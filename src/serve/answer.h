#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bet/model.h"

namespace bet {

// {"user": .., "items": [{"item": .., "score": ..}, ..]}; what the answer is for goes first.
nlohmann::ordered_json answer_json(const std::string& key, const nlohmann::ordered_json& value,
                                   const std::vector<ScoredItem>& items);

// One line of JSON. Ids need not be UTF-8: bytes that are none are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace bet
