#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/size_plan.h"

namespace bet {

// The four families of size distributions (METHOD 3, step 1).
enum class SizeFamily { kPowerLaw, kTruncatedExponential, kTruncatedNormal, kLogNormal };

std::string_view family_name(SizeFamily family);

// What a sampled plan was made from.
struct PlanOrigin {
  double user_share = 0;  // w: share of the budget given to users
  SizeFamily user_family = SizeFamily::kPowerLaw;
  SizeFamily item_family = SizeFamily::kPowerLaw;
  double user_shape = 0;  // beta of the users' family
  double item_shape = 0;
};

struct SampledPlan {
  SizePlan plan;
  PlanOrigin origin;
};

// The rows of a side from the most to the least frequent; ties by index.
std::vector<std::uint32_t> frequency_order(std::span<const std::uint32_t> frequencies);

// The plan whose sizes sum to `total` exactly: the n-th largest of those that allocate_sizes makes
// of `values` goes to the n-th row of `order`, users and items in one, users first.
SizePlan shared_out_plan(std::span<const double> values, std::uint64_t total,
                         const TableShape& shape, std::span<const std::uint32_t> order);

// Draws plans that spend a parameter budget exactly: a share for each side, a size distribution for
// each side, and larger sizes to more frequent rows. Where rows may be empty (min_dim 0), that is
// so in every other plan only; the rest give each row a parameter at least, if there are so many.
// Any thread may draw.
class PlanSampler {
 public:
  // Frequencies are training counts by row. `params` is spent to the last one. Throws if the shape
  // cannot hold it.
  PlanSampler(const TableShape& shape, std::uint64_t params,
              std::span<const std::uint32_t> user_frequencies,
              std::span<const std::uint32_t> item_frequencies);

  // The plan number `index` under a seed: the same for any order of calls.
  SampledPlan draw(std::uint64_t seed, std::uint64_t index) const;

  // The plan of a given origin; `index` chooses the random values and whether rows may be empty.
  SizePlan make_plan(const PlanOrigin& origin, std::uint64_t seed, std::uint64_t index) const;

  // Not drawn: sizes within each side equal, up to one, the users' share of the budget given
  // (METHOD section 8).
  SizePlan sided_plan(double user_share) const;

 private:
  // The shape that the sizes of plan `index` keep to.
  TableShape shape_of(std::uint64_t index) const;

  // B_user = round(w B), clamped so that each side can hold min_dim a row and none exceeds max_dim;
  // as the sum of the users' sizes.
  std::uint64_t size_of_users(double user_share, const TableShape& shape) const;

  TableShape shape_;
  std::uint64_t total_size_;  // sum of all sizes: the parameters of one table
  std::vector<std::uint32_t> user_order_;
  std::vector<std::uint32_t> item_order_;
};

}  // namespace bet
