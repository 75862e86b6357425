#include "plan/plan_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

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

constexpr std::array<Family, 5> kFamilies = {{
    {SizeFamily::kPowerLaw, "power_law", 20.0},
    {SizeFamily::kTruncatedExponential, "truncated_exponential", 5.0},
    {SizeFamily::kTruncatedNormal, "truncated_normal", 20.0},
    {SizeFamily::kLogNormal, "log_normal", 0.5},
    {SizeFamily::kFrequency, "frequency", 1.0},
}};
constexpr std::uint32_t kPaperFamilies = 4;

const Family& family_of(SizeFamily family) { return kFamilies[static_cast<std::size_t>(family)]; }

// Fewer rows than this share of a side are never kept.
constexpr double kLeastKept = 0.1;

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
    case SizeFamily::kFrequency:
      fail("sizes by frequency are not drawn");
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

}  // namespace

std::string_view family_name(SizeFamily family) { return family_of(family).name; }

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

PlanSampler::Side::Side(std::span<const std::uint32_t> by_row) : order(frequency_order(by_row)) {
  frequencies.reserve(order.size());
  for (const std::uint32_t row : order) frequencies.push_back(by_row[row]);
}

PlanSampler::PlanSampler(const TableShape& shape, PlanLimit limit,
                         std::span<const std::uint32_t> user_frequencies,
                         std::span<const std::uint32_t> item_frequencies)
    : shape_(shape), limit_(std::move(limit)), users_(user_frequencies), items_(item_frequencies) {
  BET_CHECK(
      user_frequencies.size() == shape.num_users && item_frequencies.size() == shape.num_items,
      "frequencies of ", user_frequencies.size(), " users and ", item_frequencies.size(),
      " items for a table of ", shape.num_users, " and ", shape.num_items);
  BET_CHECK(!limit_.precisions.empty() && !shape.masks,
            "a sampler of plans without precisions, or ", "with masks");
  if (limit_.form == StoredForm::kVectors) shape_.min_dim = std::max(1U, shape_.min_dim);
  if (!limit_.in_bytes) {
    BET_CHECK(limit_.total >= shape.min_params() && limit_.total <= shape.full_params(),
              "plans cannot have ", limit_.total, " parameters: ", shape.num_rows(), " rows take ",
              shape.min_params(), " to ", shape.full_params());
    total_ = limit_.total / shape.tables;
    return;
  }
  const std::uint64_t fixed = shape.directory_bytes();
  total_ = limit_.total > fixed ? limit_.total - fixed : 0;
  // A precision in which not even the smallest plan fits is left out.
  std::erase_if(limit_.precisions, [&](const TablePrecision& one) {
    const Cost users = cost_of(one.users);
    const Cost items = cost_of(one.items);
    const std::uint64_t least =
        shape_.min_dim == 0
            ? std::min(users.row + users.step, items.row + items.step)
            : shape_.num_users * users.least_row + shape_.num_items * items.least_row;
    return least > total_;
  });
  if (limit_.precisions.empty()) {
    fail_as(ErrorKind::kBudget, "plans cannot have ", limit_.total, " bytes: ", shape.num_rows(),
            " rows take more");
  }
}

PlanSampler::Cost PlanSampler::cost_of(Precision precision) const {
  Cost cost;
  if (limit_.in_bytes) {
    const ValueCell cell = value_cell(precision);
    // Columns that fill whole bytes, where a column has several values.
    const std::uint32_t columns = cell.values / std::gcd(cell.values, shape_.tables);
    cost.step_columns = columns;
    cost.step = std::uint64_t{columns} * shape_.tables / cell.values * cell.bytes;
    cost.row = scale_bytes(precision);
  }
  const auto steps = [&](std::uint32_t columns) {
    return (columns + cost.step_columns - 1) / cost.step_columns;
  };
  cost.most = steps(shape_.max_dim);
  cost.least_row = shape_.min_dim == 0 ? 0 : cost.row + steps(shape_.min_dim) * cost.step;
  return cost;
}

SampledPlan PlanSampler::draw(std::uint64_t seed, std::uint64_t index) const {
  RandomStream random(seed, "plan origins", index);
  PlanOrigin origin;
  origin.user_share = random.uniform();
  const Family& user = kFamilies[random.below(kPaperFamilies)];
  const Family& item = kFamilies[random.below(kPaperFamilies)];
  origin.user_family = user.family;
  origin.item_family = item.family;
  origin.user_shape = random.uniform() * user.max_shape;
  origin.item_shape = random.uniform() * item.max_shape;
  origin.precision = limit_.precisions.front();
  return sampled(origin, seed, index);
}

SampledPlan PlanSampler::sampled(PlanOrigin origin, std::uint64_t seed, std::uint64_t index) const {
  origin.form = limit_.form;
  if (limit_.form == StoredForm::kVectors) {
    origin.user_share =
        share_of_one_width(cost_of(origin.precision.users), cost_of(origin.precision.items));
  }
  return {make_plan(origin, seed, index), origin};
}

SampledPlan PlanSampler::draw_any(std::uint64_t seed, std::uint64_t index) const {
  RandomStream random(seed, "any plan", index);
  PlanOrigin origin;
  // Where one side can live without parameters of its own, every fourth plan leaves it none.
  const bool one_side = may_have_empty_rows() && random.below(4) == 0;
  origin.user_share = one_side ? random.below(2) : random.uniform();
  const auto draw_side = [&](SizeFamily& family, double& shape, double& kept) {
    // Skewed sizes make a table wide, and with it the training slow: half of the sides have equal
    // sizes, a quarter sizes by frequency.
    const std::uint32_t kind = random.below(4);
    family = kind == 0 ? kFamilies[random.below(kPaperFamilies)].family : SizeFamily::kFrequency;
    shape = kind > 1 ? 0 : random.uniform() * family_of(family).max_shape;
    if (may_have_empty_rows() && random.below(2) == 0) {
      kept = kLeastKept + (1 - kLeastKept) * random.uniform();
    }
  };
  draw_side(origin.user_family, origin.user_shape, origin.user_kept);
  draw_side(origin.item_family, origin.item_shape, origin.item_kept);
  origin.precision =
      limit_.precisions[random.below(static_cast<std::uint32_t>(limit_.precisions.size()))];
  return sampled(origin, seed, index);
}

SampledPlan PlanSampler::draw_near(const PlanOrigin& other, double reach, std::uint64_t seed,
                                   std::uint64_t index) const {
  RandomStream random(seed, "plan near another", index);
  PlanOrigin origin = other;
  // A value that leaves its range is reflected back into it: clamping would put many plans on the
  // ends.
  const auto move = [&](double& value, double low, double high) {
    value += reach * (2 * random.uniform() - 1) * (high - low);
    if (value > high) value = 2 * high - value;
    if (value < low) value = 2 * low - value;
    value = std::clamp(value, low, high);
  };
  // A few numbers at a time: where all move, what was good about the plan is lost.
  constexpr std::uint32_t kOneIn = 2;
  for (bool moved = false; !moved;) {
    const auto moves = [&] {
      const bool yes = random.below(kOneIn) == 0;
      moved = moved || yes;
      return yes;
    };
    if (moves()) move(origin.user_share, 0, 1);
    if (moves()) move(origin.user_shape, 0, family_of(origin.user_family).max_shape);
    if (moves()) move(origin.item_shape, 0, family_of(origin.item_family).max_shape);
    if (may_have_empty_rows() && moves()) move(origin.user_kept, kLeastKept, 1);
    if (may_have_empty_rows() && moves()) move(origin.item_kept, kLeastKept, 1);
    const auto choices = static_cast<std::uint32_t>(limit_.precisions.size());
    if (choices > 1 && moves()) origin.precision = limit_.precisions[random.below(choices)];
  }
  // The families of the paper have no shape of zero.
  const auto positive = [](SizeFamily family, double& shape) {
    if (family != SizeFamily::kFrequency) shape = std::max(shape, 1e-3);
  };
  positive(origin.user_family, origin.user_shape);
  positive(origin.item_family, origin.item_shape);
  return sampled(origin, seed, index);
}

SizePlan PlanSampler::make_plan(const PlanOrigin& origin, std::uint64_t seed,
                                std::uint64_t index) const {
  const auto is_in_range = [](double value) { return value >= 0 && value <= 1; };
  const auto has_shape = [](SizeFamily family, double shape) {
    return shape > 0 || (shape == 0 && family == SizeFamily::kFrequency);
  };
  BET_CHECK(is_in_range(origin.user_share) && is_in_range(origin.user_kept) &&
                is_in_range(origin.item_kept) && has_shape(origin.user_family, origin.user_shape) &&
                has_shape(origin.item_family, origin.item_shape),
            "cannot make a plan of user share ", origin.user_share, ", shapes ", origin.user_shape,
            ", ", origin.item_shape, " and kept rows ", origin.user_kept, ", ", origin.item_kept);
  const Cost users = cost_of(origin.precision.users);
  const Cost items = cost_of(origin.precision.items);
  const Shares shares = shares_of(origin.user_share, users, items);
  return SizePlan(shape_,
                  side_sizes(users_, origin.user_family, origin.user_shape, origin.user_kept,
                             shares.users, users, RandomStream(seed, "plan user values", index)),
                  side_sizes(items_, origin.item_family, origin.item_shape, origin.item_kept,
                             shares.items, items, RandomStream(seed, "plan item values", index)))
      .with_precision(origin.precision)
      .with_form(limit_.form);
}

std::vector<std::uint16_t> PlanSampler::side_sizes(const Side& side, SizeFamily family,
                                                   double shape, double kept, std::uint64_t total,
                                                   const Cost& cost, RandomStream random) const {
  const std::uint64_t rows = side.order.size();
  std::uint32_t least_steps = (shape_.min_dim + cost.step_columns - 1) / cost.step_columns;
  std::uint64_t count = rows;
  if (may_have_empty_rows()) {
    // As many rows as can hold the side's share, and no more than have at least a step each.
    const auto wanted = static_cast<std::uint64_t>(std::llround(kept * static_cast<double>(rows)));
    const std::uint64_t least = (total + cost.fullest_row() - 1) / cost.fullest_row();
    count = std::min({std::max(wanted, least), rows, total / (cost.row + cost.step)});
    least_steps = 1;
  }
  std::vector<double> values;
  if (family == SizeFamily::kFrequency) {
    for (std::uint64_t rank = 0; rank < count; ++rank) {
      values.push_back(std::pow(std::max(1U, side.frequencies[rank]), shape));
    }
  } else {
    values = descending_uniforms(count, random);
    apply_quantile({family, shape}, values);
  }
  const std::uint64_t steps =
      std::min<std::uint64_t>((total - count * cost.row) / cost.step, count * cost.most);
  const std::vector<std::uint16_t> by_rank = allocate_sizes(values, steps, least_steps, cost.most);
  std::vector<std::uint16_t> sizes(rows, 0);
  for (std::size_t rank = 0; rank < count; ++rank) {
    sizes[side.order[rank]] = static_cast<std::uint16_t>(
        std::min<std::uint32_t>(by_rank[rank] * cost.step_columns, shape_.max_dim));
  }
  return sizes;
}

std::optional<SizePlan> PlanSampler::equal_plan(const TablePrecision& precision) const {
  if (!limit_.in_bytes) {
    if (total_ < shape_.num_rows()) return std::nullopt;
    return bet::equal_plan(shape_, limit_.total).with_precision(precision).with_form(limit_.form);
  }
  for (std::uint32_t size = shape_.max_dim; size >= std::max(1U, shape_.min_dim); --size) {
    const std::uint64_t values = std::uint64_t{size} * shape_.tables;
    const std::uint64_t bytes = shape_.num_users * row_bytes(precision.users, values) +
                                shape_.num_items * row_bytes(precision.items, values);
    if (bytes > total_) continue;
    return bet::equal_plan(shape_, shape_.total_size(values))
        .with_precision(precision)
        .with_form(limit_.form);
  }
  return std::nullopt;
}

SizePlan PlanSampler::sided_plan(double user_share, const TablePrecision& precision) const {
  BET_CHECK(user_share >= 0 && user_share <= 1, "user share ", user_share,
            " is not between 0 and 1");
  PlanOrigin origin;
  origin.user_share = user_share;
  origin.user_family = origin.item_family = SizeFamily::kFrequency;
  origin.precision = precision;
  return make_plan(origin, 0, 0);  // nothing is drawn
}

SizePlan PlanSampler::frequency_plan(double exponent, Precision precision) const {
  std::vector<std::uint32_t> all(shape_.num_rows());
  for (std::size_t rank = 0; rank < users_.order.size(); ++rank) {
    all[users_.order[rank]] = users_.frequencies[rank];
  }
  for (std::size_t rank = 0; rank < items_.order.size(); ++rank) {
    all[shape_.num_users + items_.order[rank]] = items_.frequencies[rank];
  }
  if (limit_.in_bytes) {
    const Cost cost = cost_of(precision);
    const std::uint64_t total =
        std::min<std::uint64_t>(total_, shape_.num_rows() * cost.fullest_row());
    const std::vector<std::uint16_t> sizes =
        side_sizes(Side(all), SizeFamily::kFrequency, exponent, 1, total, cost,
                   RandomStream(0, "nothing is drawn"));
    return SizePlan(shape_, sizes).with_precision(precision).with_form(limit_.form);
  }
  const std::vector<std::uint32_t> order = frequency_order(all);
  std::vector<double> values;
  values.reserve(order.size());
  for (const std::uint32_t row : order) values.push_back(std::pow(all[row], exponent));
  return shared_out_plan(values, total_, shape_, order)
      .with_precision(precision)
      .with_form(limit_.form);
}

PlanSampler PlanSampler::with_min_dim(std::uint32_t min_dim) const {
  PlanSampler sampler = *this;
  sampler.shape_.min_dim = min_dim;
  return sampler;
}

double PlanSampler::share_of_one_width(const Cost& users, const Cost& items) const {
  const auto by_column = [](const Cost& cost) {
    return static_cast<double>(cost.step) / cost.step_columns;
  };
  const auto num_users = static_cast<double>(shape_.num_users);
  const auto num_items = static_cast<double>(shape_.num_items);
  const auto scales =
      static_cast<double>(shape_.num_users * users.row + shape_.num_items * items.row);
  const auto total = static_cast<double>(total_);
  const double width =
      std::max(0.0, total - scales) / (num_users * by_column(users) + num_items * by_column(items));
  return std::clamp(num_users * (static_cast<double>(users.row) + width * by_column(users)) / total,
                    0.0, 1.0);
}

PlanSampler::Shares PlanSampler::shares_of(double user_share, const Cost& users,
                                           const Cost& items) const {
  const std::uint64_t least_items = shape_.num_items * items.least_row;
  const std::uint64_t most_items = shape_.num_items * items.fullest_row();
  const std::uint64_t lowest =
      std::max(shape_.num_users * users.least_row, total_ > most_items ? total_ - most_items : 0);
  const std::uint64_t highest =
      std::min<std::uint64_t>(shape_.num_users * users.fullest_row(), total_ - least_items);
  const auto wanted =
      static_cast<std::uint64_t>(std::llround(user_share * static_cast<double>(total_)));
  // Where both sides are full, less than everything is spent.
  const std::uint64_t for_users = std::clamp(wanted, std::min(lowest, highest), highest);
  // Where there is only one row for both sides, the share does not divide it.
  if (may_have_empty_rows() && for_users < users.row + users.step &&
      total_ - for_users < items.row + items.step) {
    return total_ >= users.row + users.step ? Shares{total_, 0} : Shares{0, total_};
  }
  return {for_users, std::min(total_ - for_users, most_items)};
}

}  // namespace bet
