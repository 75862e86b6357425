#include <array>
#include <cmath>
#include <cstdio>

#include "plan/plan_sampler.h"
#include "search/method.h"

namespace bet {
namespace {

// Users and items share one budget: a row's part of it depends on its frequency alone.
SizePlan plan_of(double exponent, const MethodInput& input, const Frequencies& frequencies) {
  std::vector<std::uint32_t> all = frequencies.users;
  all.insert(all.end(), frequencies.items.begin(), frequencies.items.end());
  const std::vector<std::uint32_t> order = frequency_order(all);
  std::vector<double> values;
  values.reserve(order.size());
  for (const std::uint32_t row : order) values.push_back(std::pow(all[row], exponent));
  const TableShape& shape = input.shape;
  return shared_out_plan(values, input.params.value() / shape.tables, shape, order);
}

Proposal propose(const MethodInput& input) {
  const Frequencies frequencies = train_frequencies(input.split);
  Proposal proposal;
  constexpr std::array kExponents = {0.0, 0.25, 0.5, 0.75, 1.0};
  for (const double exponent : kExponents) {
    char label[32];
    std::snprintf(label, sizeof(label), "exponent %g", exponent);
    proposal.plans.push_back(plan_of(exponent, input, frequencies));
    proposal.labels.emplace_back(label);
  }
  return proposal;
}

}  // namespace

// A row's size is proportional to its training frequency to a power, which is chosen on validation;
// the budget is spent exactly. Not a method of the paper but a rule that a search has to beat.
extern const MethodKind kFrequency;
const MethodKind kFrequency = {
    .name = "frequency", .about = "sizes by a power of the frequency", .propose = propose};

}  // namespace bet
