#include "serve/answer.h"

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

Json items_answer(const Model& model, const std::vector<std::string>& items, std::size_t k) {
  const std::vector<std::string_view> given(items.begin(), items.end());
  return answer_json("given", items, model.recommend_for_items(given, k));
}

Json similar_answer(const Model& model, const std::string& item, std::size_t k) {
  return answer_json("item", item, model.similar_items(item, k));
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bet
