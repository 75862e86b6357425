#include "serve/file_budget.h"

#include "base/error.h"
#include "serve/table_json.h"

namespace bet {

std::string kept_budget(const Model& model, const std::string& file) {
  const nlohmann::ordered_json budget = budget_json(model, file);
  if (budget.is_null()) return "";
  if (!budget["kept"].get<bool>()) {
    fail_as(ErrorKind::kBudget, file, ": is not written: it would break its budget ",
            budget_text(budget),
            ". Room for growth needs a smaller table, or a budget of the table alone (5%B, "
            "--budget-for table) with its graph, which new rows do not use up");
  }
  return budget_text(budget);
}

}  // namespace bet
