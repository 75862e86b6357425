#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bet/model.h"

namespace bet {

// What the rows of a model file are, how much of them there is, and what a budget promises. A file
// of lightgcn or ngcf that is served materialised holds vectors propagated from the trained table,
// not the table itself; a parameter budget is a promise on the table, a byte budget one on the rows
// as stored, whichever they are.

// {"holds": "trained table" or "propagated vectors", "values": of the rows, "table_bytes": of the
// rows, "params": of the trained table}. With propagated vectors `params` is the fact used.params,
// null where the file has none that is an integer.
nlohmann::ordered_json table_json(const Model& model);

// {"requested": .., "unit": "parameters" or "bytes", "of": what the promise is on, "allowed": ..,
// "used": .., "kept": ..} for `budget`, or if that is empty for the file's own; null if there is
// none. Throws if the budget is none or the facts that it takes are missing or of another type;
// `file` says in errors which file it is.
nlohmann::ordered_json budget_json(const Model& model, std::string_view file,
                                   const std::string& budget = "");

// The same for people, one line each without its end. `json` has the keys of table_json.
std::string table_text(const nlohmann::ordered_json& json);
std::string budget_text(const nlohmann::ordered_json& budget);

}  // namespace bet
