#include "plan/budget.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/error.h"

namespace bet {
namespace {

struct UnitName {
  std::string_view name;
  Budget::Unit unit;
  std::uint64_t multiplier;
};

// In their usual spelling. Longer names first: "2MiB" ends in "B" too.
constexpr std::array<UnitName, 10> kUnits = {{
    {"KiB", Budget::Unit::kBytes, std::uint64_t{1} << 10},
    {"MiB", Budget::Unit::kBytes, std::uint64_t{1} << 20},
    {"GiB", Budget::Unit::kBytes, std::uint64_t{1} << 30},
    {"kB", Budget::Unit::kBytes, 1'000},
    {"MB", Budget::Unit::kBytes, 1'000'000},
    {"GB", Budget::Unit::kBytes, 1'000'000'000},
    {"%B", Budget::Unit::kByteShare, 1},
    {"B", Budget::Unit::kBytes, 1},
    {"%", Budget::Unit::kShare, 1},
    {"p", Budget::Unit::kParams, 1},
}};

// Whether the text ends in the name of a unit, in upper or lower case.
bool ends_in(std::string_view text, std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return text.size() >= name.size() &&
         std::equal(name.begin(), name.end(), text.end() - static_cast<std::ptrdiff_t>(name.size()),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

// What is left for the table of so many bytes.
std::uint64_t table_part(std::uint64_t bytes, std::uint64_t beside_table) {
  return bytes > beside_table ? bytes - beside_table : 0;
}

// The smallest possible budget, in the requested unit.
std::string smallest_text(const Budget& budget, const TableShape& shape, Precision precision,
                          std::uint64_t beside_table) {
  switch (budget.unit) {
    case Budget::Unit::kBytes:
    case Budget::Unit::kByteShare:
      return std::to_string(beside_table + table_bytes(shape.min_params(), shape, precision)) + "B";
    case Budget::Unit::kParams:
      return std::to_string(shape.min_params()) + "p";
    case Budget::Unit::kShare:
      break;
  }
  // In percent, rounded up to four places: 0.7813% for 1 of 128.
  const std::uint64_t full = shape.full_params();
  const std::uint64_t scaled =
      shape.min_dim == 0
          ? (1'000'000 + full - 1) / full
          : (std::uint64_t{shape.min_dim} * 1'000'000 + shape.max_dim - 1) / shape.max_dim;
  std::string fraction = std::to_string(scaled % 10'000);
  fraction.insert(0, 4 - fraction.size(), '0');
  return std::to_string(scaled / 10'000) + "." + fraction + "%";
}

// The parameters that the budget allows, not limited by the table; nothing if they do not fit into
// 64 bits.
std::optional<std::uint64_t> allowed_params(const Budget& budget, const TableShape& shape,
                                            Precision precision, std::uint64_t beside_table) {
  switch (budget.unit) {
    case Budget::Unit::kShare:
      return budget.amount.times(shape.full_params(), 100);
    case Budget::Unit::kParams:
      return budget.amount.times(1);
    case Budget::Unit::kBytes:
    case Budget::Unit::kByteShare:
      break;
  }
  const std::uint64_t bytes = table_part(budget.bytes(shape), beside_table);
  // The most that fit, by bisection: bytes grow with parameters.
  std::uint64_t fit = 0;
  std::uint64_t too_many = shape.full_params() + 1;
  if (table_bytes(0, shape, precision) > bytes) return 0;
  while (too_many - fit > 1) {
    const std::uint64_t middle = fit + (too_many - fit) / 2;
    (table_bytes(middle, shape, precision) <= bytes ? fit : too_many) = middle;
  }
  return fit;
}

}  // namespace

std::uint64_t table_bytes(std::uint64_t params, const TableShape& shape, Precision precision) {
  const std::uint64_t rows = std::min(params, shape.num_rows());  // rows that may have values
  const std::uint64_t unused = (value_cell(precision).values - 1) * rows;  // of their last bytes
  return shape.directory_bytes() + value_bytes(precision, params + unused) +
         (scale_bytes(precision) + shape.mask_bytes()) * rows;
}

std::uint64_t Budget::bytes(const TableShape& shape) const {
  const std::uint64_t full = shape.directory_bytes() + 4 * shape.full_params();  // in fp32
  const auto asked = unit == Unit::kByteShare ? amount.times(full, 100) : amount.times(multiplier);
  return asked.value_or(std::numeric_limits<std::uint64_t>::max());
}

Budget parse_budget(std::string_view text) {
  for (const UnitName& unit : kUnits) {
    if (!ends_in(text, unit.name)) continue;
    std::string_view number = text.substr(0, text.size() - unit.name.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    const auto amount = parse_decimal(number);
    if (!amount) break;
    BET_CHECK(amount->digits > 0, "budget ", in_quotes(text), " is zero");
    BET_CHECK(unit.unit != Budget::Unit::kParams || amount->scale == 0, "budget ", in_quotes(text),
              ": parameters are whole numbers");
    return {std::string(number) + std::string(unit.name), unit.unit, *amount, unit.multiplier};
  }
  fail("budget ", in_quotes(text),
       " is not understood; write a share (5%), parameters (450000p), bytes (1.8MB, 2MiB) or a "
       "share of the full table's bytes (5%B)");
}

ResolvedBudget resolve_budget(const Budget& budget, const TableShape& shape,
                              std::optional<Precision> precision,
                              std::optional<std::uint64_t> beside_table) {
  BET_CHECK(shape.num_rows() > 0 && shape.min_dim <= shape.max_dim && shape.max_dim > 0,
            "a budget needs a table with rows: ", shape.num_rows(), " rows, sizes ", shape.min_dim,
            " to ", shape.max_dim);
  BET_CHECK(!beside_table || budget.unit == Budget::Unit::kBytes, "budget ", budget.text,
            " is one of the table; one of the file is an amount of bytes");
  const std::uint64_t beside = beside_table.value_or(0);
  const auto params_in = [&](Precision one) { return allowed_params(budget, shape, one, beside); };
  // A plan may have the lowest precision, but only the highest makes a cut unnecessary.
  const Precision lowest = precision.value_or(Precision::kInt1);
  const std::optional<std::uint64_t> most = params_in(lowest);
  if (most && *most < shape.min_params()) {
    fail_as(ErrorKind::kBudget, "budget ", budget.text, " is too small for ", shape.num_rows(),
            " users and items",
            beside > 0 ? str_cat(", whose model file takes ", beside, " bytes beside the table")
                       : std::string(),
            ": the smallest is ", smallest_text(budget, shape, lowest, beside));
  }
  std::optional<std::uint64_t> allowed = params_in(precision.value_or(Precision::kFloat32));
  ResolvedBudget resolved;
  resolved.requested = budget;
  resolved.precision = precision;
  resolved.target = beside_table ? BudgetFor::kFile : BudgetFor::kTable;
  resolved.covers_full = !allowed || *allowed >= shape.full_params();
  if (!resolved.covers_full && !precision) allowed = params_in(kUsualLowPrecision);
  resolved.params =
      resolved.covers_full ? shape.full_params() : std::min(*allowed, shape.full_params());
  resolved.table_bytes =
      budget.in_bytes() && !resolved.covers_full
          ? table_part(budget.bytes(shape), beside)
          : table_bytes(resolved.params, shape, precision.value_or(Precision::kFloat32));
  resolved.bytes = beside_table ? budget.bytes(shape) : resolved.table_bytes;
  return resolved;
}

}  // namespace bet
