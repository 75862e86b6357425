#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bet/error.h"
#include "bet/model.h"

namespace bet {

// What somebody of whom the model knows nothing gets: an unknown user, or a list of items that are
// all unknown.
enum class Missing { kError, kPopular };

// The answers that `recommend --json` prints and HTTP sends. The user or items that an answer is
// for come first.
// {"user": .., "items": [{"item": .., "score": ..}, ..]}
// With Missing::kPopular and an unknown user {"user": .., "popular": true, "items": [..]}.
nlohmann::ordered_json user_answer(const Model& model, const std::string& user, std::size_t k,
                                   const ItemFilter& filter = {},
                                   Missing missing = Missing::kError);
// The same for items that are there already.
nlohmann::ordered_json user_answer(std::string_view user, const std::vector<ScoredItem>& items);
// The same as an entry of a batch: an unknown user is {"user": .., "error": ..}.
nlohmann::ordered_json batch_entry(const Model& model, const std::string& user, std::size_t k,
                                   const ItemFilter& filter = {},
                                   Missing missing = Missing::kError);
// {"given": [..], "items": [..]}, and "unknown": [..] where some of the given items, but not all,
// are unknown; these are left out. With Missing::kPopular and unknown items alone {"given": [..],
// "popular": true, "items": [..], "unknown": [..]}.
nlohmann::ordered_json items_answer(const Model& model, const std::vector<std::string>& items,
                                    std::size_t k, const ItemFilter& filter = {},
                                    Missing missing = Missing::kError);
// {"item": .., "items": [..]}
nlohmann::ordered_json similar_answer(const Model& model, const std::string& item, std::size_t k,
                                      const ItemFilter& filter = {});

// The same as an entry of a batch: an unknown item is {"item": .., "error": ..}.
nlohmann::ordered_json similar_entry(const Model& model, const std::string& item, std::size_t k,
                                     const ItemFilter& filter = {});
// {"user": .., "items": [{"item": .., "score": ..}, ..]} in the order of the items, without unknown
// ones, which are in "unknown": [..].
nlohmann::ordered_json scores_answer(const Model& model, const std::string& user,
                                     const std::vector<std::string>& items);

// An entry of a batch: answer(), or {key: id, "error": ..} for an id that is not found.
template <typename Answer>
nlohmann::ordered_json entry_of(const std::string& key, const std::string& id,
                                const Answer& answer) {
  try {
    return answer();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    return {{key, id}, {"error", error.what()}};
  }
}
// {"items": [{"item": .., "score": the number of users who have it}, ..]}
nlohmann::ordered_json popular_answer(const Model& model, std::size_t k);

// The popular items that the filter allows; its min_score, which is for other scores, is not used.
std::vector<ScoredItem> popular_for_missing(const Model& model, std::size_t k, ItemFilter filter);

// One line of JSON. Ids need not be UTF-8: bytes that are not are replaced by U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace bet
