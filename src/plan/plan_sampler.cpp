#include "plan/plan_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "plan/allocate.h"

namespace bet {
namespace {

struct Family {
  SizeFamily family;
  std::string_view name;
  double max_shape;  // beta_max in Eq. 4
};

constexpr std::array<Family, 4> kFamilies = {{
    {SizeFamily::kPowerLaw, "power_law", 20.0},
    {SizeFamily::kTruncatedExponential, "truncated_exponential", 5.0},
    {SizeFamily::kTruncatedNormal, "truncated_normal", 20.0},
    {SizeFamily::kLogNormal, "log_normal", 0.5},
}};

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = 0;
  for (const double c : coefficients) value = value * x + c;
  return value;
}

// The quantile function of the normal distribution by Wichura's algorithm AS 241 (PPND16), relative
// error about 1e-16.
double normal_quantile(double p) {
  static constexpr std::array<double, 8> kA = {
      2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
  static constexpr std::array<double, 8> kB = {
      5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
  static constexpr std::array<double, 8> kC = {7.7454501427834140764e-4, 0.0227238449892691845833,
                                               0.24178072517745061177,   1.27045825245236838258,
                                               3.64784832476320460504,   5.7694972214606914055,
                                               4.6303378461565452959,    1.42343711074968357734};
  static constexpr std::array<double, 8> kD = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                                               0.0151986665636164571966,  0.14810397642748007459,
                                               0.68976733498510000455,    1.6763848301838038494,
                                               2.05319162663775882187,    1.0};
  static constexpr std::array<double, 8> kE = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                               0.0012426609473880784386,  0.026532189526576123093,
                                               0.29656057182850489123,    1.7848265399172913358,
                                               5.4637849111641143699,     6.6579046435011037772};
  static constexpr std::array<double, 8> kF = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
                                               1.8463183175100546818e-5,   7.868691311456132591e-4,
                                               0.0148753612908506148525,   0.13692988092273580531,
                                               0.59983220655588793769,     1.0};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1.0 - p));
  const double tail = r <= 5.0 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                               : polynomial(kE, r - 5.0) / polynomial(kF, r - 5.0);
  return q < 0 ? -tail : tail;
}

// `count` uniform values in descending order without a sort: running sums of exponential variates,
// divided by their total, are distributed like sorted uniform values.
std::vector<double> descending_uniforms(std::size_t count, RandomStream& random) {
  std::vector<double> values(count);
  double running = 0;
  for (std::size_t i = count; i-- > 0;) {
    running -= std::log(random.uniform());
    values[i] = running;
  }
  running -= std::log(random.uniform());
  const double below_one = std::nextafter(1.0, 0.0);  // strictly inside (0, 1) after rounding too
  for (double& value : values) value = std::min(value / running, below_one);
  return values;
}

struct Distribution {
  SizeFamily family;
  double shape;
};

// Turns uniform values into values of the distribution by its quantile function, which is
// ascending: the order stays.
void apply_quantile(const Distribution& distribution, std::vector<double>& u) {
  const double shape = distribution.shape;
  switch (distribution.family) {
    case SizeFamily::kPowerLaw:
      for (double& v : u) v = std::exp(std::log(v) / shape);
      break;
    case SizeFamily::kTruncatedExponential: {
      const double mass = -std::expm1(-shape);
      for (double& v : u) v = -std::log1p(-v * mass);
      break;
    }
    case SizeFamily::kTruncatedNormal: {
      const double mass = 0.5 * std::erf(shape / std::numbers::sqrt2);  // Phi(b) - 1/2
      for (double& v : u) v = std::max(normal_quantile(0.5 + v * mass), 0.0);
      break;
    }
    case SizeFamily::kLogNormal:
      for (double& v : u) v = std::exp(shape * normal_quantile(v));
      break;
  }
}

// Sizes by row that sum to `total`: the n-th largest goes to the n-th row of `order`.
std::vector<std::uint16_t> allocate_by_rank(std::span<const double> values, std::uint64_t total,
                                            const TableShape& table,
                                            std::span<const std::uint32_t> order) {
  const std::vector<std::uint16_t> by_rank =
      allocate_sizes(values, total, table.min_dim, table.max_dim);
  std::vector<std::uint16_t> sizes(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) sizes[order[rank]] = by_rank[rank];
  return sizes;
}

std::vector<std::uint16_t> draw_side(const Distribution& distribution, std::uint64_t total,
                                     const TableShape& table, std::span<const std::uint32_t> order,
                                     RandomStream random) {
  std::vector<double> values = descending_uniforms(order.size(), random);
  apply_quantile(distribution, values);
  return allocate_by_rank(values, total, table, order);
}

}  // namespace

std::string_view family_name(SizeFamily family) {
  return kFamilies[static_cast<std::size_t>(family)].name;
}

std::vector<std::uint32_t> frequency_order(std::span<const std::uint32_t> frequencies) {
  std::vector<std::uint32_t> order(frequencies.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return frequencies[a] > frequencies[b];
  });
  return order;
}

SizePlan shared_out_plan(std::span<const double> values, std::uint64_t total,
                         const TableShape& shape, std::span<const std::uint32_t> order) {
  return {shape, allocate_by_rank(values, total, shape, order)};
}

PlanSampler::PlanSampler(const TableShape& shape, std::uint64_t params,
                         std::span<const std::uint32_t> user_frequencies,
                         std::span<const std::uint32_t> item_frequencies)
    : shape_(shape),
      total_size_(params / shape.tables),
      user_order_(frequency_order(user_frequencies)),
      item_order_(frequency_order(item_frequencies)) {
  BET_CHECK(
      user_frequencies.size() == shape.num_users && item_frequencies.size() == shape.num_items,
      "frequencies of ", user_frequencies.size(), " users and ", item_frequencies.size(),
      " items for a table of ", shape.num_users, " and ", shape.num_items);
  BET_CHECK(params >= shape.min_params() && params <= shape.full_params(), "plans cannot have ",
            params, " parameters: ", shape.num_rows(), " rows take ", shape.min_params(), " to ",
            shape.full_params());
}

SampledPlan PlanSampler::draw(std::uint64_t seed, std::uint64_t index) const {
  RandomStream random(seed, "plan origins", index);
  PlanOrigin origin;
  origin.user_share = random.uniform();
  const Family& user = kFamilies[random.below(kFamilies.size())];
  const Family& item = kFamilies[random.below(kFamilies.size())];
  origin.user_family = user.family;
  origin.item_family = item.family;
  origin.user_shape = random.uniform() * user.max_shape;
  origin.item_shape = random.uniform() * item.max_shape;
  return {make_plan(origin, seed, index), origin};
}

SizePlan PlanSampler::make_plan(const PlanOrigin& origin, std::uint64_t seed,
                                std::uint64_t index) const {
  BET_CHECK(origin.user_share >= 0 && origin.user_share <= 1 && origin.user_shape > 0 &&
                origin.item_shape > 0,
            "cannot make a plan of user share ", origin.user_share, " and shapes ",
            origin.user_shape, ", ", origin.item_shape);
  const TableShape drawn = shape_of(index);
  const std::uint64_t for_users = size_of_users(origin.user_share, drawn);
  return {shape_,
          draw_side({origin.user_family, origin.user_shape}, for_users, drawn, user_order_,
                    RandomStream(seed, "plan user values", index)),
          draw_side({origin.item_family, origin.item_shape}, total_size_ - for_users, drawn,
                    item_order_, RandomStream(seed, "plan item values", index))};
}

SizePlan PlanSampler::sided_plan(double user_share) const {
  BET_CHECK(user_share >= 0 && user_share <= 1, "user share ", user_share,
            " is not between 0 and 1");
  const std::uint64_t for_users = size_of_users(user_share, shape_);
  const std::vector<double> equal(std::max(user_order_.size(), item_order_.size()), 1.0);
  const std::span<const double> values(equal);
  return {shape_,
          allocate_by_rank(values.first(user_order_.size()), for_users, shape_, user_order_),
          allocate_by_rank(values.first(item_order_.size()), total_size_ - for_users, shape_,
                           item_order_)};
}

TableShape PlanSampler::shape_of(std::uint64_t index) const {
  TableShape shape = shape_;
  // Whether empty rows are better depends on budget and data, so the search is
  // given plans of both kinds.
  const bool can_fill = total_size_ >= shape.total_size(1);
  if (shape.min_dim == 0 && index % 2 == 1 && can_fill) shape.min_dim = 1;
  return shape;
}

std::uint64_t PlanSampler::size_of_users(double user_share, const TableShape& shape) const {
  const std::uint64_t least_items = shape.num_items * shape.min_dim;
  const std::uint64_t most_items = shape.num_items * shape.max_dim;
  const std::uint64_t lowest = std::max(shape.num_users * shape.min_dim,
                                        total_size_ > most_items ? total_size_ - most_items : 0);
  const std::uint64_t highest =
      std::min<std::uint64_t>(shape.num_users * shape.max_dim, total_size_ - least_items);
  const auto wanted =
      static_cast<std::uint64_t>(std::llround(user_share * static_cast<double>(total_size_)));
  return std::clamp(wanted, lowest, highest);
}

}  // namespace bet
