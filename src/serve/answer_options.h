#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "serve/answer.h"
#include "serve/served_model.h"

namespace bet {

// What a request, of HTTP or of the command line, says about the items that it wants.
struct AnswerOptions {
  std::size_t k = 10;
  std::optional<std::vector<std::string>> only;  // ids; unknown ones are in no answer anyway
  std::string only_list;                         // the name of a list instead; empty: none
  std::vector<std::string> exclude;
  std::optional<float> min_score;
  bool include_seen = false;
  Missing missing = Missing::kError;
};

// Its filter for one model, with the ids looked up.
class AnswerFilter {
 public:
  // The model must outlive this. Throws on both kinds of `only`, and on an unknown list.
  AnswerFilter(const AnswerOptions& options, const ModelWithLists& served);
  AnswerFilter(const AnswerFilter&) = delete;
  AnswerFilter& operator=(const AnswerFilter&) = delete;

  const ItemFilter& get() const { return filter_; }

 private:
  std::optional<ItemSet> only_, exclude_;
  ItemFilter filter_;  // refers to the sets
};

}  // namespace bet
