#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "serve/answer_options.h"

namespace bet {

// Recommendations for many users, written to one file.
struct BulkOptions {
  // Ends with .csv (a line "user,rank,item,score" for each item, after a header, and "title" behind
  // it where there are titles) or .jsonl (a line for each user, as answer.h and answer_titles.h
  // have it), and .zst after it for compression.
  std::string out;
  std::string users_file;  // one id a line; empty: all users, in the order of the model file
  // The users of that list that are answered: from .. to - 1, counted from 0.
  std::size_t from = 0;
  std::optional<std::size_t> to;  // none, or more than there are: to the end
  std::size_t threads = 0;        // one per core
  AnswerOptions answer;
};

struct BulkResult {
  std::size_t users = 0;    // answered, or with an error in the file
  std::size_t unknown = 0;  // of these: not in the model file
};

// Uses memory for some thousand answers at a time, however many users there are. The file appears
// when it is complete. An unknown user gets what options.answer.missing says, or an error in .jsonl
// and no lines in .csv. Throws Error on a name of another kind, and where files cannot be read or
// written.
BulkResult recommend_in_bulk(const ModelWithLists& served, const BulkOptions& options);

}  // namespace bet
