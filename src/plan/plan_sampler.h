#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "plan/size_plan.h"

namespace bet {

// The four families of size distributions (BET paper, Section 3.2), and one without chance: sizes
// in proportion to a power of the frequency.
enum class SizeFamily {
  kPowerLaw,
  kTruncatedExponential,
  kTruncatedNormal,
  kLogNormal,
  kFrequency
};

std::string_view family_name(SizeFamily family);

// The parameters that a plan was sampled from.
struct PlanOrigin {
  double user_share = 0;  // w in Eq. 6: share of the budget given to users
  SizeFamily user_family = SizeFamily::kPowerLaw;
  SizeFamily item_family = SizeFamily::kPowerLaw;
  double user_shape = 0;  // beta of the users' family (Eq. 4); of kFrequency the exponent
  double item_shape = 0;
  // Share of the side's rows that get parameters, the most frequent ones; the others are empty. 1
  // where rows may not be empty.
  double user_kept = 1;
  double item_kept = 1;
  TablePrecision precision = {};  // of the rows
  StoredForm form = StoredForm::kTable;

  bool operator==(const PlanOrigin&) const = default;
};

struct SampledPlan {
  SizePlan plan;
  PlanOrigin origin;
};

// What plans may spend.
struct PlanLimit {
  bool in_bytes = false;    // of the table as stored; else parameters of all tables together
  std::uint64_t total = 0;  // at most
  // That plans may have, at least one.
  std::vector<TablePrecision> precisions = {TablePrecision()};
  StoredForm form = StoredForm::kTable;  // of all plans
};

// The rows of a side from the most to the least frequent; ties by index.
std::vector<std::uint32_t> frequency_order(std::span<const std::uint32_t> frequencies);

// The plan whose sizes sum to `total` exactly: of the sizes that allocate_sizes() makes of
// `values`, the n-th largest goes to the n-th row of `order`. Rows are numbered with users first,
// then items.
SizePlan shared_out_plan(std::span<const double> values, std::uint64_t total,
                         const TableShape& shape, std::span<const std::uint32_t> order);

// Makes plans that spend a budget (BET paper, Section 3.2): a share of the budget and a size
// distribution for each side, users and items, and larger sizes for more frequent rows. A budget of
// parameters is spent exactly, rounded down to a multiple of the shape's tables; one of bytes but
// for less than the smallest step of a row on each side. Any thread may draw.
//
// Plans of vectors leave no row empty, and their share of the budget is not free: only columns that
// both sides have make a score, so that both have as many on average.
class PlanSampler {
 public:
  // Frequencies are training counts by row. Throws if no plan of the shape keeps the limit.
  PlanSampler(const TableShape& shape, PlanLimit limit,
              std::span<const std::uint32_t> user_frequencies,
              std::span<const std::uint32_t> item_frequencies);
  // Of fp32 plans that have `params` parameters.
  PlanSampler(const TableShape& shape, std::uint64_t params,
              std::span<const std::uint32_t> user_frequencies,
              std::span<const std::uint32_t> item_frequencies)
      : PlanSampler(shape, PlanLimit{false, params, {TablePrecision()}}, user_frequencies,
                    item_frequencies) {}

  // Plan number `index` under a seed, as the paper draws it: one of its families for each side, all
  // rows kept. The same for any order of calls.
  SampledPlan draw(std::uint64_t seed, std::uint64_t index) const;

  // A plan from anywhere in the space of the search: as draw(), or sizes by frequency, and, where
  // rows may be empty, a share of the rows of each side kept.
  SampledPlan draw_any(std::uint64_t seed, std::uint64_t index) const;

  // A plan near `other`: some of its numbers are moved by up to `reach` of their range.
  SampledPlan draw_near(const PlanOrigin& other, double reach, std::uint64_t seed,
                        std::uint64_t index) const;

  // A plan of the given origin; `index` chooses the random values.
  SizePlan make_plan(const PlanOrigin& origin, std::uint64_t seed, std::uint64_t index) const;

  // Not drawn at random: one size for all (ES); none where it would be zero.
  std::optional<SizePlan> equal_plan(const TablePrecision& precision = {}) const;

  // Not drawn at random: sizes within a side differ by one step at most, and users get the given
  // share of the budget (method `sided`, docs/methods.md).
  SizePlan sided_plan(double user_share, const TablePrecision& precision = {}) const;

  // Sizes in proportion to a power of the frequency, users and items alike (method `frequency`).
  SizePlan frequency_plan(double exponent, Precision precision = Precision::kFloat32) const;

  // The same for a table of other smallest sizes.
  PlanSampler with_min_dim(std::uint32_t min_dim) const;

  const TableShape& shape() const { return shape_; }
  const PlanLimit& limit() const { return limit_; }
  bool may_have_empty_rows() const { return shape_.min_dim == 0; }

 private:
  // A side's rows from the most to the least frequent, with their frequencies.
  struct Side {
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> frequencies;  // by rank

    explicit Side(std::span<const std::uint32_t> by_row);
  };
  // What the sizes of a side's rows cost of the limit. Sizes are made of steps: the columns that
  // fill whole bytes, or, of parameters, one column.
  struct Cost {
    std::uint32_t step_columns = 1;
    std::uint64_t step = 1;       // cost of each
    std::uint64_t row = 0;        // of a row that has any
    std::uint32_t most = 1;       // steps of a row
    std::uint64_t least_row = 0;  // cost of a row of min_dim

    std::uint64_t fullest_row() const { return row + most * step; }
  };
  Cost cost_of(Precision precision) const;
  // With what the limit decides of the origin.
  SampledPlan sampled(PlanOrigin origin, std::uint64_t seed, std::uint64_t index) const;
  std::vector<std::uint16_t> side_sizes(const Side& side, SizeFamily family, double shape,
                                        double kept, std::uint64_t total, const Cost& cost,
                                        RandomStream random) const;

  // What both sides spend: round(user_share * total) for the users, clamped so that the rows of
  // both sides can have sizes within [min_dim, max_dim], and the rest for the items.
  struct Shares {
    std::uint64_t users = 0;
    std::uint64_t items = 0;
  };
  Shares shares_of(double user_share, const Cost& users, const Cost& items) const;
  // The users' share where both sides have rows of one width.
  double share_of_one_width(const Cost& users, const Cost& items) const;

  TableShape shape_;
  PlanLimit limit_;
  std::uint64_t total_;  // of the costs: the sum of all sizes, or bytes
  Side users_;
  Side items_;
};

}  // namespace bet
