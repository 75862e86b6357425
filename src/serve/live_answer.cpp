#include "serve/live_answer.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> recent_items(const ModelWithLists& served, const std::string& user) {
  if (served.events == nullptr) return {};
  return served.events->index().items_of(user);
}

// For a user whom only events know.
Json answer_by_events(const ModelWithLists& served, const std::string& user,
                      const std::vector<std::string>& recent, const AnswerOptions& options,
                      const AnswerFilter& filter) {
  const Model& model = *served.model;
  std::vector<std::string_view> known;
  for (const std::string& item : recent) {
    if (model.has_item(item)) known.emplace_back(item);
  }
  if (!known.empty()) {
    return user_answer(user, model.recommend_for_items(known, options.k, filter.get()));
  }
  if (options.missing == Missing::kPopular) {
    return user_answer(model, user, options.k, filter.get(), options.missing);
  }
  return user_answer(user, std::vector<ScoredItem>());
}

}  // namespace

Json live_user_answer(const ModelWithLists& served, const std::string& user,
                      const AnswerOptions& options, const AnswerFilter& filter) {
  const std::vector<std::string> recent = recent_items(served, user);
  if (recent.empty()) {
    return user_answer(*served.model, user, options.k, filter.get(), options.missing);
  }
  if (!served.model->has_user(user)) {
    return answer_by_events(served, user, recent, options, filter);
  }
  AnswerOptions wider = options;
  if (!options.include_seen) {
    wider.exclude.insert(wider.exclude.end(), recent.begin(), recent.end());
  }
  const AnswerFilter without_recent(wider, served);
  return user_answer(*served.model, user, options.k, without_recent.get(), options.missing);
}

Json live_batch_entry(const ModelWithLists& served, const std::string& user,
                      const AnswerOptions& options, const AnswerFilter& filter) {
  return entry_of("user", user, [&] { return live_user_answer(served, user, options, filter); });
}

std::vector<std::string> live_seen_items(const ModelWithLists& served, const std::string& user) {
  const std::vector<std::string> recent = recent_items(served, user);
  std::vector<std::string> items;
  if (recent.empty() || served.model->has_user(user)) {
    const std::vector<std::string_view> seen = served.model->seen_items(user);
    items.assign(seen.begin(), seen.end());
  }
  const std::set<std::string_view> before(items.begin(), items.end());
  std::vector<std::string> later;
  std::copy_if(recent.begin(), recent.end(), std::back_inserter(later),
               [&](const std::string& item) { return !before.contains(item); });
  items.insert(items.end(), later.begin(), later.end());
  return items;
}

}  // namespace bet
