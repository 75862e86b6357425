#include "serve/answer.h"

namespace bet {

nlohmann::ordered_json answer_json(const std::string& key, const nlohmann::ordered_json& value,
                                   const std::vector<ScoredItem>& items) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ScoredItem& item : items) {
    list.push_back({{"item", std::string(item.item)}, {"score", item.score}});
  }
  return {{key, value}, {"items", std::move(list)}};
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace bet
