#include "serve/answer.h"

#include <algorithm>

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

Json items_json(const std::vector<ScoredItem>& items) {
  Json list = Json::array();
  for (const ScoredItem& item : items) {
    list.push_back({{"item", std::string(item.item)}, {"score", item.score}});
  }
  return list;
}

Json answer_json(const std::string& key, const Json& value, const std::vector<ScoredItem>& items) {
  return {{key, value}, {"items", items_json(items)}};
}

Json popular_json(const std::string& key, const Json& value, const std::vector<ScoredItem>& items) {
  return {{key, value}, {"popular", true}, {"items", items_json(items)}};
}

}  // namespace

std::vector<ScoredItem> popular_for_missing(const Model& model, std::size_t k, ItemFilter filter) {
  filter.min_score = ItemFilter().min_score;
  return model.popular_items(k, filter);
}

Json popular_answer(const Model& model, std::size_t k) {
  return {{"items", items_json(model.popular_items(k))}};
}

Json user_answer(std::string_view user, const std::vector<ScoredItem>& items) {
  return answer_json("user", std::string(user), items);
}

Json user_answer(const Model& model, const std::string& user, std::size_t k,
                 const ItemFilter& filter, Missing missing) {
  if (missing == Missing::kPopular && !model.has_user(user)) {
    return popular_json("user", user, popular_for_missing(model, k, filter));
  }
  return user_answer(user, model.recommend(user, k, filter));
}

Json batch_entry(const Model& model, const std::string& user, std::size_t k,
                 const ItemFilter& filter, Missing missing) {
  return entry_of("user", user, [&] { return user_answer(model, user, k, filter, missing); });
}

Json items_answer(const Model& model, const std::vector<std::string>& items, std::size_t k,
                  const ItemFilter& filter, Missing missing) {
  const std::vector<std::string_view> given(items.begin(), items.end());
  std::vector<std::string_view> unknown;
  Json answer;
  const auto is_known = [&](std::string_view item) { return model.has_item(item); };
  if (missing == Missing::kPopular && std::none_of(given.begin(), given.end(), is_known)) {
    answer = popular_json("given", items, popular_for_missing(model, k, filter));
    unknown = given;
  } else {
    answer =
        answer_json("given", items, model.recommend_for_known_items(given, k, unknown, filter));
  }
  for (const std::string_view item : unknown) answer["unknown"].push_back(std::string(item));
  return answer;
}

Json similar_answer(const Model& model, const std::string& item, std::size_t k,
                    const ItemFilter& filter) {
  return answer_json("item", item, model.similar_items(item, k, filter));
}

Json similar_entry(const Model& model, const std::string& item, std::size_t k,
                   const ItemFilter& filter) {
  return entry_of("item", item, [&] { return similar_answer(model, item, k, filter); });
}

Json scores_answer(const Model& model, const std::string& user,
                   const std::vector<std::string>& items) {
  const std::vector<std::string_view> asked(items.begin(), items.end());
  const std::vector<float> scores = model.scores(user, asked);
  std::vector<ScoredItem> known;
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (model.has_item(items[i])) {
      known.push_back({asked[i], scores[i]});
    } else {
      unknown.push_back(items[i]);
    }
  }
  Json answer = user_answer(user, known);
  if (!unknown.empty()) answer["unknown"] = unknown;
  return answer;
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bet
