#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/answer_options.h"

namespace bet {

// Answers that know the events of a user that the served model does not have yet: such items were
// seen, and a user of whom there are events is known. Without an event log they are those of
// answer.h.

// user_answer() with the filter of these options. A user who is not in the model is recommended for
// by its items, as somebody who is not in the file.
nlohmann::ordered_json live_user_answer(const ModelWithLists& served, const std::string& user,
                                        const AnswerOptions& options, const AnswerFilter& filter);
// The same as an entry of a batch: an unknown user is {"user": .., "error": ..}.
nlohmann::ordered_json live_batch_entry(const ModelWithLists& served, const std::string& user,
                                        const AnswerOptions& options, const AnswerFilter& filter);
// Those of the model, then those of events. Throws on an unknown user.
std::vector<std::string> live_seen_items(const ModelWithLists& served, const std::string& user);

}  // namespace bet
