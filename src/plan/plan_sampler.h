#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/size_plan.h"

namespace bet {

// The four families of size distributions (BET paper, Section 3.2).
enum class SizeFamily { kPowerLaw, kTruncatedExponential, kTruncatedNormal, kLogNormal };

std::string_view family_name(SizeFamily family);

// The parameters that a plan was sampled from.
struct PlanOrigin {
  double user_share = 0;  // w in Eq. 6: share of the budget given to users
  SizeFamily user_family = SizeFamily::kPowerLaw;
  SizeFamily item_family = SizeFamily::kPowerLaw;
  double user_shape = 0;  // beta of the users' family (Eq. 4)
  double item_shape = 0;
};

struct SampledPlan {
  SizePlan plan;
  PlanOrigin origin;
};

// The rows of a side from the most to the least frequent; ties by index.
std::vector<std::uint32_t> frequency_order(std::span<const std::uint32_t> frequencies);

// The plan whose sizes sum to `total` exactly: of the sizes that allocate_sizes() makes of
// `values`, the n-th largest goes to the n-th row of `order`. Rows are numbered with users first,
// then items.
SizePlan shared_out_plan(std::span<const double> values, std::uint64_t total,
                         const TableShape& shape, std::span<const std::uint32_t> order);

// Draws plans that spend a parameter budget exactly (BET paper, Section 3.2): a share of the budget
// and a size distribution for each side, users and items, and larger sizes for more frequent rows.
// Where the shape allows empty rows (min_dim 0), every second plan has none all the same, if the
// budget suffices for one parameter a row. Any thread may draw.
class PlanSampler {
 public:
  // Frequencies are training counts by row. Plans spend exactly `params` parameters, rounded down
  // to a multiple of the shape's tables. Throws if the shape cannot hold them.
  PlanSampler(const TableShape& shape, std::uint64_t params,
              std::span<const std::uint32_t> user_frequencies,
              std::span<const std::uint32_t> item_frequencies);

  // Plan number `index` under a seed: the same for any order of calls.
  SampledPlan draw(std::uint64_t seed, std::uint64_t index) const;

  // A plan of the given origin; `index` chooses the random values and whether rows may be empty.
  SizePlan make_plan(const PlanOrigin& origin, std::uint64_t seed, std::uint64_t index) const;

  // Not drawn at random: sizes within a side differ by one at most, and users get the given share
  // of the budget (method `sided`, docs/methods.md).
  SizePlan sided_plan(double user_share) const;

 private:
  // The shape whose limits the sizes of plan `index` observe.
  TableShape shape_of(std::uint64_t index) const;

  // The sum of the users' sizes: round(user_share * total), clamped so that the rows of both sides
  // can have sizes within [min_dim, max_dim].
  std::uint64_t size_of_users(double user_share, const TableShape& shape) const;

  TableShape shape_;
  std::uint64_t total_size_;  // sum of all sizes: the parameters of one table
  std::vector<std::uint32_t> user_order_;
  std::vector<std::uint32_t> item_order_;
};

}  // namespace bet
