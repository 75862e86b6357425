#pragma once

#include <array>
#include <vector>

#include "plan/plan_sampler.h"

namespace bet {

// The exponents that the method `frequency` chooses from.
inline constexpr std::array kFrequencyExponents = {0.0, 0.25, 0.5, 0.75, 1.0};

// Shares of the users that the method `sided` chooses from: in tenths, or in fifths where each is
// tried in several precisions; with the ends, where one side has nothing, if rows may be empty.
std::vector<double> sided_shares(bool may_have_empty_rows, bool several_precisions);

// The rules that a search has to beat (docs/methods.md), each with an origin whose plan is the same
// or nearly so: the plan of `es`, then those of `sided` and of `frequency`. Where the sampler's
// limit allows several precisions, in each that is the same for both sides: `es`, and `sided` in
// fifths. Of vectors, in each such precision, equal sizes that spend everything. No plan twice.
std::vector<SampledPlan> rule_plans(const PlanSampler& sampler);

// Of so many pairs of precisions, all that there are of some: those that are the same on both sides
// and in which there are rules; none where there is only one.
std::size_t num_rule_precisions(std::size_t num_precisions);

// How many they are, about, where plans may have so many precisions.
std::size_t num_rule_plans(std::size_t num_precisions, bool may_have_empty_rows);

}  // namespace bet
