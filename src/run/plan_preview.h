#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/budget.h"
#include "plan/plan_sampler.h"
#include "run/data_options.h"

namespace bet {

// Which plans are shown.
enum class PreviewKind {
  kSearch,  // those that a search begins with, which are rules
  kEqual,   // one of equal sizes
  kRandom,  // one of mixed random sizes
  kSample   // one drawn at random, as the search draws
};

// What a budget means for some data, without training.
struct PlanPreviewJob {
  DataOptions data;
  Budget budget;
  std::optional<BudgetFor> budget_for;  // FitOptions'
  PreviewKind kind = PreviewKind::kSearch;
  std::uint32_t dim = 128;
  std::uint64_t seed = 1;
};

struct PlanPreview {
  TableShape shape;  // of the full table
  ResolvedBudget allowed;
  std::vector<SampledPlan> plans;  // at least one; of kEqual and kRandom without an origin
};

PlanPreview preview_plans(const PlanPreviewJob& job);

}  // namespace bet
