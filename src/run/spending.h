#pragma once

#include <optional>
#include <vector>

#include "data/dataset.h"
#include "data/split.h"
#include "run/fit_options.h"

namespace bet {

// What a run's budget comes to.
struct Spending {
  std::optional<ResolvedBudget> budget;  // none without one
  // What plans may spend, by form, of those that there is a choice of; empty where nothing limits
  // them.
  std::vector<PlanLimit> limits;
  bool with_seen = true;  // in the file
};

// Of resolved options. A budget for the whole file has to hold what the file has beside its table:
// ids, interactions, lengths, weights and facts. The table gets the rest, as graph and as vectors
// where options leave that open; seen items are left out where `--seen auto` finds no room for a
// table beside them. Throws with kind kBudget, naming the smallest budget, where nothing fits.
Spending resolve_spending(const FitOptions& resolved, const Dataset& dataset, const Split& split);

}  // namespace bet
