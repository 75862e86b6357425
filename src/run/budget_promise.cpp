#include "run/budget_promise.h"

#include "base/error.h"

namespace bet {
namespace {

template <typename... Parts>
void check_budget(bool holds, Parts&&... parts) {
  if (!holds) fail_as(ErrorKind::kBudget, std::forward<Parts>(parts)...);
}

}  // namespace

void check_vectors_can_fit(const TableShape& shape, const ResolvedBudget& budget,
                           const FitOptions& resolved) {
  const bool rounded = serves_vectors(resolved) && !trains_vectors(resolved);
  if (!rounded || !budget.requested.in_bytes()) return;
  const std::uint64_t width = (budget.params + shape.num_rows() - 1) / shape.num_rows();
  const SizePlan equal = equal_plan(shape, width * shape.num_rows());
  const std::uint64_t bytes =
      exported_table_bytes(equal, export_choice(resolved, {}, StoredForm::kTable));
  check_budget(bytes <= budget.table_bytes, "the propagated vectors would take at least ", bytes,
               " bytes, more than --budget ", budget.requested.text,
               "; --serving graph stores the table alone");
}

void check_plan_fits(const SizePlan& plan, const ResolvedBudget& budget,
                     const ExportChoice& choice) {
  const std::uint64_t bytes = exported_table_bytes(plan, choice);
  if (budget.allows(plan.num_params(), bytes)) return;
  check_budget(budget.requested.in_bytes(), "a plan of ", plan.num_params(),
               " parameters breaks the budget ", budget.requested.text);
  check_budget(false, "the ", choice.materialised ? "propagated vectors" : "table", " would take ",
               bytes, " bytes, more than the ", budget.table_bytes, " that --budget ",
               budget.requested.text, " leaves for it",
               choice.materialised ? "; --serving graph stores the table alone" : "");
}

void check_file_fits(std::uint64_t table_bytes, std::uint64_t file_bytes, const FitOptions& options,
                     const ExportChoice& choice, const TableShape& shape) {
  if (!options.budget || !options.budget->in_bytes()) return;
  const std::uint64_t allowed = options.budget->bytes(shape);
  if (options.budget_for == BudgetFor::kFile) {
    check_budget(file_bytes <= allowed, "the model file takes ", file_bytes,
                 " bytes, more than the run's --budget ", options.budget->text);
    return;
  }
  check_budget(table_bytes <= allowed, "the ",
               choice.materialised ? "propagated vectors take " : "table takes ", table_bytes,
               " bytes, more than the run's --budget ", options.budget->text);
}

}  // namespace bet
