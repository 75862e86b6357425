#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bet/model.h"

namespace bet {

// What the rows of a model file are, how large they are, and whether they are within a budget. A
// materialised file of a backbone with a graph holds vectors propagated from the trained table, not
// the table itself; a parameter budget limits the table, a byte budget the rows as stored,
// whichever they are, or the whole file.

// {"holds": "trained table" or "propagated vectors", "values": of the rows, "table_bytes": of the
// rows, "params": of the trained table}. With propagated vectors `params` is the fact used.params,
// null where the file has none that is an integer.
nlohmann::ordered_json table_json(const Model& model);

// A budget to check instead of the file's own.
struct GivenBudget {
  std::string budget = {};      // empty: the file's own
  std::string budget_for = {};  // "file" or "table"; empty: as `bet fit` takes the budget
};

// {"requested": .., "for": "file" or "table", "unit": "parameters" or "bytes", "of": what the
// budget limits, "allowed": .., "used": .., "kept": ..}; null if there is no budget. Throws if the
// budget is malformed, or if a fact that it needs is missing or of another type. `file` names the
// file in errors.
nlohmann::ordered_json budget_json(const Model& model, std::string_view file,
                                   const GivenBudget& given = {});

// The same as text, one line each without a line end. `json` has the keys of table_json.
std::string table_text(const nlohmann::ordered_json& json);
std::string budget_text(const nlohmann::ordered_json& budget);

}  // namespace bet
