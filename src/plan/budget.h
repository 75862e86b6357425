#pragma once

#include <cstdint>
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
  std::uint32_t tables = 1;     // embeddings of a row, each of its size; NCF has two
  bool masks = false;           // rows keep any columns, not the first: stored with a bit for each

  std::uint64_t num_rows() const { return num_users + num_items; }
  std::uint64_t full_params() const { return total_size(max_dim) * tables; }
  std::uint64_t min_params() const { return tables * (min_dim == 0 ? 1 : total_size(min_dim)); }
  // Of a row's mask as stored, where the row has values.
  std::uint64_t mask_bytes() const { return masks ? (std::uint64_t{max_dim} + 7) / 8 : 0; }
  // Sum of all rows' sizes if each has this one.
  std::uint64_t total_size(std::uint64_t size) const { return num_rows() * size; }
};

// Most bytes that a table of `params` values takes as stored, however they are shared out: rows are
// grouped by size, so that sizes cost one count per size and side; int8 and int4 have a scale for
// each row that has values, and int4 rows may end in half a byte; masks are a bitmap for each such
// row. Exact for fp32 and fp16 without masks.
std::uint64_t table_bytes(std::uint64_t params, const TableShape& shape, Precision precision);

// A memory limit as a person writes it.
struct Budget {
  enum class Unit { kShare, kParams, kBytes };

  std::string text;  // in the usual spelling: "2MB" for "2 mb"
  Unit unit = Unit::kShare;
  Decimal amount;                // percent, parameters or bytes
  std::uint64_t multiplier = 1;  // of the amount, for bytes: 1000 for kB, 1024 for KiB, ...

  // The promise was made on bytes (else on parameters).
  bool in_bytes() const { return unit == Unit::kBytes; }
};

// "5%" (of the full table's parameters), "450000p" (parameters), "1.8MB", "2MiB", "900kB", "64KiB",
// "4096B" (bytes of the table as stored). Plain decimals; units in any case, blanks before them;
// throws on anything else.
Budget parse_budget(std::string_view text);

// A budget on a given table.
struct ResolvedBudget {
  std::uint64_t params = 0;  // most parameters that keep the promise, at most the full table's
  std::uint64_t bytes = 0;   // most bytes: as asked, or what `params` may take
  bool covers_full = false;  // the full table fits: nothing needs to be cut
};

// Throws, naming the smallest possible budget in the same unit, where `budget` cannot hold min_dim
// parameters for every row.
ResolvedBudget resolve_budget(const Budget& budget, const TableShape& shape,
                              Precision precision = Precision::kFloat32);

}  // namespace bet
