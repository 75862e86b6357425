#include "run/spending.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "run/budget_promise.h"
#include "run/model_file.h"
#include "search/method.h"

namespace bet {
namespace {

// Every pair of them, for users and items.
std::vector<TablePrecision> pairs_of(std::span<const Precision> precisions) {
  std::vector<TablePrecision> pairs;
  for (const Precision users : precisions) {
    for (const Precision items : precisions) pairs.emplace_back(users, items);
  }
  return pairs;
}

// What plans of one form may spend of a budget that does not hold the full table.
PlanLimit plan_limit(const FitOptions& resolved, const ResolvedBudget& allowed,
                     const TableShape& shape, StoredForm form) {
  // Vectors that are rounded after training are as wide as the widest row: their bytes are checked,
  // not spent.
  const bool rounded = serves_vectors(resolved) && !trains_vectors(resolved);
  const bool in_bytes = allowed.requested.in_bytes() && !rounded;
  PlanLimit limit = {.in_bytes = in_bytes,
                     .total = in_bytes ? allowed.table_bytes : allowed.params,
                     .precisions = {usual_precision(resolved)},
                     .form = form};
  if (resolved.precision || !in_bytes || !method_of(resolved).chooses_precision) return limit;
  // Where all values fit into four bits, more bits are better than these.
  constexpr std::array kHigh = {Precision::kInt8, Precision::kInt4};
  constexpr std::array kLow = {Precision::kInt2, Precision::kInt4, Precision::kInt3,
                               Precision::kTernary, Precision::kInt1};
  const bool four_bits =
      table_bytes(shape.full_params(), shape, Precision::kInt4) <= allowed.table_bytes;
  limit.precisions = four_bits ? pairs_of(kHigh) : pairs_of(kLow);
  return limit;
}

// A kind of file that a budget may have room for.
struct FileKind {
  StoredForm form = StoredForm::kTable;
  bool with_seen = true;
};

// Those to choose among, and those for the case that none of them fits.
struct FileKinds {
  std::vector<FileKind> first;
  std::vector<FileKind> otherwise;
};

FileKinds file_kinds(const FitOptions& resolved) {
  const bool keeps = resolved.seen != SeenItems::kDrop;
  const bool may_drop = resolved.seen == SeenItems::kAuto;
  FileKinds kinds;
  if (chooses_form(resolved)) {
    kinds.first = {{StoredForm::kTable, true}, {StoredForm::kVectors, true}};
    if (may_drop) kinds.otherwise = {{StoredForm::kVectors, false}};
    return kinds;
  }
  const bool graph = find_backbone(resolved.backbone).uses_graph && !serves_vectors(resolved);
  const StoredForm form = trains_vectors(resolved) ? StoredForm::kVectors : StoredForm::kTable;
  kinds.first = {{form, keeps || graph}};
  if (may_drop && !graph) kinds.otherwise = {{form, false}};
  return kinds;
}

// Throws where the precision that a method takes without a choice does not fit.
ResolvedBudget resolve_for(const FitOptions& resolved, const TableShape& shape,
                           std::optional<std::uint64_t> beside_table) {
  ResolvedBudget allowed =
      resolve_budget(*resolved.budget, shape, resolved.precision, beside_table);
  if (!resolved.precision && !allowed.covers_full && !method_of(resolved).chooses_precision) {
    resolve_budget(*resolved.budget, shape, kUsualLowPrecision, beside_table);
  }
  return allowed;
}

// What the budget comes to for files of these kinds, as many of them as fit. If none does, and
// there is nothing else to try, throws the last one's error.
Spending spend_on_file(const FitOptions& resolved, const Dataset& dataset, const Split& split,
                       const TableShape& shape, std::span<const FileKind> kinds, bool last) {
  Spending spending;
  for (const FileKind& kind : kinds) {
    TableShape stored = shape;
    if (kind.form == StoredForm::kVectors) stored.min_dim = std::max(1U, shape.min_dim);
    const std::uint64_t beside_table =
        most_bytes_beside_table(dataset, split, resolved, stored, kind.form, kind.with_seen);
    try {
      const ResolvedBudget allowed = resolve_for(resolved, stored, beside_table);
      if (!spending.budget) spending.budget = allowed;
      spending.with_seen = kind.with_seen;
      spending.limits.push_back(plan_limit(resolved, allowed, stored, kind.form));
    } catch (const Error& error) {
      const bool is_last = &kind == &kinds.back() && !spending.budget && last;
      if (error.kind() != ErrorKind::kBudget || is_last) throw;
    }
  }
  return spending;
}

}  // namespace

Spending resolve_spending(const FitOptions& resolved, const Dataset& dataset, const Split& split) {
  const TableShape shape = table_shape(resolved, dataset);
  Spending spending;
  spending.with_seen = resolved.seen != SeenItems::kDrop;
  if (!resolved.budget) return spending;
  if (resolved.budget_for == BudgetFor::kFile) {
    const FileKinds kinds = file_kinds(resolved);
    const bool one_way = kinds.otherwise.empty();
    spending = spend_on_file(resolved, dataset, split, shape, kinds.first, one_way);
    if (!spending.budget) {
      spending = spend_on_file(resolved, dataset, split, shape, kinds.otherwise, true);
    }
  } else {
    spending.budget = resolve_for(resolved, shape, std::nullopt);
    const StoredForm form = trains_vectors(resolved) ? StoredForm::kVectors : StoredForm::kTable;
    spending.limits = {plan_limit(resolved, *spending.budget, shape, form)};
  }
  const ResolvedBudget& budget = *spending.budget;
  if (resolved.method == "full" && !budget.covers_full) {
    fail_as(
        ErrorKind::kBudget, "--method full does not fit --budget ", resolved.budget->text,
        ": it takes ", shape.full_params(), " parameters, ",
        table_bytes(shape.full_params(), shape, resolved.precision.value_or(Precision::kFloat32)),
        " bytes");
  }
  check_vectors_can_fit(shape, budget, resolved);
  if (budget.covers_full) spending.limits.clear();
  return spending;
}

}  // namespace bet
