#pragma once

#include <string>

#include "bet/model.h"

namespace bet {

// The budget of a model file that is about to be written, as text; empty if it has none. Throws
// Error (kBudget) if it is not kept: a budget is never exceeded. `file` names the file in errors.
std::string kept_budget(const Model& model, const std::string& file);

}  // namespace bet
