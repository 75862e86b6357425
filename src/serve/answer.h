#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bet/model.h"

namespace bet {

// The answers that `recommend --json` prints and HTTP sends. The user or items that an answer is
// for come first.
// {"user": .., "items": [{"item": .., "score": ..}, ..]}
nlohmann::ordered_json user_answer(const Model& model, const std::string& user, std::size_t k,
                                   Model::Seen seen);
// The same as an entry of a batch: an unknown user is {"user": .., "error": ..}.
nlohmann::ordered_json batch_entry(const Model& model, const std::string& user, std::size_t k,
                                   Model::Seen seen);
// {"given": [..], "items": [..]}, and "unknown": [..] where some of the given items, but not all,
// are unknown; these are left out.
nlohmann::ordered_json items_answer(const Model& model, const std::vector<std::string>& items,
                                    std::size_t k);
// {"item": .., "items": [..]}
nlohmann::ordered_json similar_answer(const Model& model, const std::string& item, std::size_t k);

// One line of JSON. Ids need not be UTF-8: bytes that are not are replaced by U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace bet
