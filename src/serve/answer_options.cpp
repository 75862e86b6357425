#include "serve/answer_options.h"

#include <string_view>

#include "base/error.h"

namespace bet {
namespace {

ItemSet item_set(const Model& model, const std::vector<std::string>& ids) {
  const std::vector<std::string_view> items(ids.begin(), ids.end());
  return model.item_set(items);
}

const ItemSet& named_list(const ModelWithLists& served, const std::string& name) {
  const auto found = served.lists.find(name);
  if (found != served.lists.end()) return found->second;
  std::string names;
  for (const auto& [other, set] : served.lists) names += (names.empty() ? "" : ", ") + other;
  fail_as(ErrorKind::kNotFound, "unknown list ", in_quotes(name), "; ",
          names.empty() ? "there are none" : "there are: ", names);
}

}  // namespace

AnswerFilter::AnswerFilter(const AnswerOptions& options, const ModelWithLists& served) {
  BET_CHECK(!options.only || options.only_list.empty(), "give either only or only_list");
  if (options.only) {
    only_ = item_set(*served.model, *options.only);
    filter_.only = &*only_;
  } else if (!options.only_list.empty()) {
    filter_.only = &named_list(served, options.only_list);
  }
  if (!options.exclude.empty()) {
    exclude_ = item_set(*served.model, options.exclude);
    filter_.exclude = &*exclude_;
  }
  if (options.min_score) filter_.min_score = *options.min_score;
  filter_.seen = options.include_seen ? Seen::kKeep : Seen::kLeaveOut;
}

}  // namespace bet
