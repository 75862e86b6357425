#include "serve/answer.h"

#include "bet/error.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

Json answer_json(const std::string& key, const Json& value, const std::vector<ScoredItem>& items) {
  Json list = Json::array();
  for (const ScoredItem& item : items) {
    list.push_back({{"item", std::string(item.item)}, {"score", item.score}});
  }
  return {{key, value}, {"items", std::move(list)}};
}

}  // namespace

Json user_answer(const Model& model, const std::string& user, std::size_t k, Model::Seen seen) {
  return answer_json("user", user, model.recommend(user, k, seen));
}

Json batch_entry(const Model& model, const std::string& user, std::size_t k, Model::Seen seen) {
  try {
    return user_answer(model, user, k, seen);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    return {{"user", user}, {"error", error.what()}};
  }
}

Json items_answer(const Model& model, const std::vector<std::string>& items, std::size_t k) {
  const std::vector<std::string_view> given(items.begin(), items.end());
  std::vector<std::string_view> unknown;
  Json answer = answer_json("given", items, model.recommend_for_known_items(given, k, unknown));
  for (const std::string_view item : unknown) answer["unknown"].push_back(std::string(item));
  return answer;
}

Json similar_answer(const Model& model, const std::string& item, std::size_t k) {
  return answer_json("item", item, model.similar_items(item, k));
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bet
