#include "run/plan_preview.h"

#include "plan/rule_plans.h"
#include "run/fit_options.h"

namespace bet {
namespace {

// As `bet fit` has them by default.
FitOptions search_defaults(const Budget& budget) {
  FitOptions options;
  options.budget = budget;
  return with_defaults(options);
}

}  // namespace

PlanPreview preview_plans(const PlanPreviewJob& job) {
  Dataset dataset = job.data.load();
  PlanPreview preview;
  preview.shape = {
      .num_users = dataset.num_users(), .num_items = dataset.num_items(), .max_dim = job.dim};
  const FitOptions defaults = search_defaults(job.budget);
  if (job.kind == PreviewKind::kSearch) preview.shape.min_dim = defaults.min_dim.value();
  preview.allowed = resolve_budget(job.budget, preview.shape);
  const std::uint64_t params = preview.allowed.params;
  if (job.kind == PreviewKind::kEqual) {
    preview.plans = {{equal_plan(preview.shape, params), {}}};
    return preview;
  }
  if (job.kind == PreviewKind::kRandom) {
    preview.plans = {{mixed_random_plan(preview.shape, params, job.seed), {}}};
    return preview;
  }
  const Frequencies frequencies = train_frequencies(job.data.split_of(dataset));
  const PlanSampler sampler(preview.shape, params, frequencies.users, frequencies.items);
  if (job.kind == PreviewKind::kSample) {
    preview.plans = {sampler.draw(job.seed, 0)};
  } else {
    preview.plans = rule_plans(sampler);
  }
  return preview;
}

}  // namespace bet
