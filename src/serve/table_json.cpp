#include "serve/table_json.h"

#include "base/backbone_traits.h"
#include "base/error.h"
#include "plan/budget.h"
#include "runtime/facts.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

bool holds_vectors(const Model::Summary& summary) {
  return backbone_traits(summary.backbone).uses_graph && summary.serving == "materialised";
}

// The parameters of the trained table.
std::uint64_t trained_params(const Model& model, std::string_view file) {
  const Model::Summary summary = model.summary();
  if (!holds_vectors(summary)) return summary.params;
  const Model::Fact* const trained = model.fact("used.params");
  BET_CHECK(trained != nullptr, file,
            ": holds propagated vectors, and no fact 'used.params' says how many parameters were "
            "trained");
  const std::int64_t params = integer_fact(file, "used.params", *trained);
  BET_CHECK(params >= 0, file, ": the fact 'used.params' is ", params);
  return static_cast<std::uint64_t>(params);
}

// The table that a budget in percent is a share of.
TableShape full_table(const Model& model) {
  const Model::Summary summary = model.summary();
  return {model.num_users(), model.num_items(), summary.max_dim, 0,
          backbone_traits(summary.backbone).tables};
}

// What a budget is for: as it is said, or as the file was made; files of earlier versions were made
// for budgets of the table.
BudgetFor target_of(const Model& model, std::string_view file, const GivenBudget& given,
                    const Budget& budget) {
  const bool amount = budget.unit == Budget::Unit::kBytes;
  std::string target = given.budget_for;
  if (target.empty() && given.budget.empty()) {
    const Model::Fact* const fact = model.fact("budget.for");
    target =
        fact == nullptr ? target_name(BudgetFor::kTable) : text_fact(file, "budget.for", *fact);
  }
  if (target.empty()) return amount ? BudgetFor::kFile : BudgetFor::kTable;
  const bool whole_file = target == target_name(BudgetFor::kFile);
  BET_CHECK(whole_file || target == target_name(BudgetFor::kTable), file,
            ": a budget for an unknown part of the file, ", in_quotes(target));
  BET_CHECK(amount || !whole_file, "budget ", budget.text,
            " is one of the table; one of the file is an amount of bytes");
  return whole_file ? BudgetFor::kFile : BudgetFor::kTable;
}

std::string counted(const Json& number, std::string_view what) {
  return str_cat(number.get<std::uint64_t>(), ' ', what);
}

}  // namespace

Json table_json(const Model& model) {
  const Model::Summary summary = model.summary();
  const bool vectors = holds_vectors(summary);
  const Model::Fact* const trained = model.fact("used.params");
  Json params = summary.params;
  if (vectors) {
    const auto* const integer = trained == nullptr ? nullptr : std::get_if<std::int64_t>(trained);
    params = integer == nullptr ? Json(nullptr) : Json(*integer);
  }
  return {{"holds", vectors ? "propagated vectors" : "trained table"},
          {"values", summary.params},
          {"table_bytes", summary.table_bytes},
          {"params", params}};
}

Json budget_json(const Model& model, std::string_view file, const GivenBudget& given) {
  const Model::Fact* const requested = model.fact("budget.requested");
  if (given.budget.empty() && requested == nullptr) return nullptr;
  const std::string text =
      given.budget.empty() ? text_fact(file, "budget.requested", *requested) : given.budget;
  const Budget parsed = parse_budget(text);
  const Model::Summary summary = model.summary();
  const bool in_bytes = parsed.in_bytes();
  const bool whole_file = target_of(model, file, given, parsed) == BudgetFor::kFile;
  const std::uint64_t allowed =
      in_bytes ? parsed.bytes(full_table(model)) : resolve_budget(parsed, full_table(model)).params;
  const std::uint64_t used = whole_file ? summary.file_bytes
                             : in_bytes ? summary.table_bytes
                                        : trained_params(model, file);
  return {{"requested", text},
          {"for", target_name(whole_file ? BudgetFor::kFile : BudgetFor::kTable)},
          {"unit", in_bytes ? "bytes" : "parameters"},
          {"of", whole_file ? "file"
                 : in_bytes ? "rows as stored"
                            : "trained table"},
          {"allowed", allowed},
          {"used", used},
          {"kept", used <= allowed}};
}

std::string table_text(const Json& json) {
  const Json& params = json["params"];
  if (json["holds"] == "trained table") {
    return str_cat("the trained table of ", counted(params, "parameters"), ", ",
                   counted(json["table_bytes"], "bytes"));
  }
  return str_cat("propagated vectors of ", counted(json["values"], "values"), ", ",
                 counted(json["table_bytes"], "bytes"), ", made from a trained table of ",
                 params.is_null() ? "an unknown number of parameters"
                                  : str_cat(params.get<std::int64_t>(), " parameters"));
}

std::string budget_text(const Json& budget) {
  const auto requested = budget["requested"].get<std::string>();
  const auto unit = budget["unit"].get<std::string>();
  return str_cat(requested, ": ", counted(budget["allowed"], unit), " of the ",
                 budget["of"].get<std::string>(), " allowed, ", counted(budget["used"], "used"),
                 budget["kept"].get<bool>() ? ": kept" : ": BROKEN");
}

}  // namespace bet
