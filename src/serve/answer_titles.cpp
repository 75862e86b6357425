#include "serve/answer_titles.h"

#include <string>

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

Json titles_of_ids(const Json& ids, const Titles& titles) {
  Json list = Json::array();
  for (const Json& id : ids) {
    const std::string_view title = titles.of(id.get_ref<const std::string&>());
    list.push_back(title.empty() ? Json(nullptr) : Json(std::string(title)));
  }
  return list;
}

bool is_list_of_ids(const Json& json) {
  return json.is_array() && !json.empty() && json[0].is_string();
}

}  // namespace

Json with_titles(Json answer, const Titles* titles) {
  if (titles == nullptr) return answer;
  Json result = Json::object();
  for (auto entry = answer.begin(); entry != answer.end(); ++entry) {
    const std::string& key = entry.key();
    Json& value = result[key] = std::move(entry.value());
    if (key == "item" && value.is_string()) {
      const std::string_view title = titles->of(value.get_ref<const std::string&>());
      if (!title.empty()) result["title"] = std::string(title);
    } else if (key == "given") {
      result["given_titles"] = titles_of_ids(value, *titles);
    } else if (key == "items" && is_list_of_ids(value)) {
      result["titles"] = titles_of_ids(value, *titles);
    } else if (key == "items" || key == "answers") {
      for (Json& one : value) one = with_titles(std::move(one), titles);
    }
  }
  return result;
}

}  // namespace bet
