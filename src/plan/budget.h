#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "base/precision.h"

namespace bet {

// The shape of an embedding table before any budget.
struct TableShape {
  std::uint64_t num_users = 0;
  std::uint64_t num_items = 0;
  std::uint32_t max_dim = 128;  // d_max in the paper
  std::uint32_t min_dim = 1;    // 0 where a row's vector can come from its neighbours alone
  std::uint32_t tables = 1;     // embeddings of each row, all of the row's size; NCF has two
  bool masks = false;           // rows keep any columns, not the first: stored as a bit per column

  std::uint64_t num_rows() const { return num_users + num_items; }
  std::uint64_t full_params() const { return total_size(max_dim) * tables; }
  std::uint64_t min_params() const { return tables * (min_dim == 0 ? 1 : total_size(min_dim)); }
  // Bytes of the stored mask of a row that has values.
  std::uint64_t mask_bytes() const { return masks ? (std::uint64_t{max_dim} + 7) / 8 : 0; }
  // Bytes of the numbers of rows of each size, of both sides.
  std::uint64_t directory_bytes() const { return 8 * (std::uint64_t{max_dim} + 1); }
  // The sum of all sizes where every row has this one.
  std::uint64_t total_size(std::uint64_t size) const { return num_rows() * size; }
};

// An upper bound on the stored bytes of a table of `params` values, however these are distributed
// over the rows. Rows are grouped by size, so sizes cost one count per size and side; the integer
// precisions store a scale for each row that has values, and its last byte may be filled in part; a
// mask is a bitmap for each such row. Exact for fp32 and fp16 without masks.
std::uint64_t table_bytes(std::uint64_t params, const TableShape& shape, Precision precision);

// A memory limit as it was asked for. A value: parsed once, compared, printed and passed on.
struct Budget {
  enum class Unit { kShare, kParams, kBytes, kByteShare };

  std::string text;  // in the usual spelling, "2MB" for "2 mb": parse_budget() reads it back
  Unit unit = Unit::kShare;
  Decimal amount;                // percent, parameters, bytes or percent of the bytes
  std::uint64_t multiplier = 1;  // of the amount, for bytes: 1000 for kB, 1024 for KiB, ...

  // Whether the limit is on bytes; otherwise it is on parameters.
  bool in_bytes() const { return unit == Unit::kBytes || unit == Unit::kByteShare; }

  // The bytes asked for, where the limit is on bytes; capped at the largest 64-bit number.
  std::uint64_t bytes(const TableShape& shape) const;

  // Whether both are spelled alike: "2MB" and "2 mb" are equal, "2MB" and "2000kB" are not.
  friend bool operator==(const Budget& a, const Budget& b) { return a.text == b.text; }
};

// "5%" (of the full table's parameters), "450000p" (parameters), "1.8MB", "2MiB", "900kB", "64KiB",
// "4096B" (bytes of the table as stored), "5%B" (of the bytes of the full table in fp32). Plain
// decimals; units in upper or lower case, blanks allowed before them. Throws on anything else.
Budget parse_budget(std::string_view text);

// What a budget is for: the rows as stored, or the whole model file.
enum class BudgetFor : std::uint8_t { kTable, kFile };

constexpr std::string_view target_name(BudgetFor target) {
  return target == BudgetFor::kFile ? "file" : "table";
}

// The precision of plans under a budget of bytes whose method chooses none.
inline constexpr Precision kUsualLowPrecision = Precision::kInt2;

// A budget applied to a given table in a given precision.
struct ResolvedBudget {
  Budget requested;
  std::optional<Precision> precision = Precision::kFloat32;  // none: a matter of the plan
  // Most parameters that keep the budget, however they are distributed, at most the full table's;
  // in kUsualLowPrecision where the precision is a matter of the plan.
  std::uint64_t params = 0;
  // Most bytes, of the table or of the file: as requested, or those that `params` may take.
  std::uint64_t bytes = 0;
  bool covers_full = false;  // the full table fits: nothing needs to be cut
  BudgetFor target = BudgetFor::kTable;
  // Most bytes of the table: less than `bytes` where these are the file's.
  std::uint64_t table_bytes = 0;

  // Whether a table of this many parameters and stored bytes keeps the budget, in the unit in which
  // it was requested.
  bool allows(std::uint64_t num_params, std::uint64_t num_bytes) const {
    return requested.in_bytes() ? num_bytes <= table_bytes : num_params <= params;
  }
};

// Throws an error of kind kBudget, which names the smallest possible budget in the same unit, where
// `budget` cannot hold min_dim parameters for every row. `beside_table`: the bytes of the file that
// are not the table's, where the budget is for the whole file; none where it is for the table.
ResolvedBudget resolve_budget(const Budget& budget, const TableShape& shape,
                              std::optional<Precision> precision = Precision::kFloat32,
                              std::optional<std::uint64_t> beside_table = std::nullopt);

}  // namespace bet
