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
  FitOptions defaults = search_defaults(job.budget);
  if (job.kind == PreviewKind::kSearch) {
    preview.shape.min_dim = defaults.min_dim.value();
  } else {
    // As the methods have it that choose none.
    defaults.precision = usual_precision(defaults).users;
  }
  preview.allowed = resolve_budget(job.budget, preview.shape, defaults.precision);
  if (preview.allowed.covers_full) {
    const Precision precision = defaults.precision.value_or(Precision::kFloat32);
    preview.plans = {{full_plan(preview.shape).with_precision(precision), {}}};
    return preview;
  }
  const PlanLimit limit = plan_limit(defaults, preview.allowed, preview.shape);
  if (job.kind == PreviewKind::kRandom) {
    preview.plans = {{mixed_random_plan(preview.shape, preview.allowed.params, job.seed)
                          .with_precision(limit.precisions.front()),
                      {}}};
    return preview;
  }
  const Frequencies frequencies = train_frequencies(job.data.split_of(dataset));
  const PlanSampler sampler(preview.shape, limit, frequencies.users, frequencies.items);
  if (job.kind == PreviewKind::kEqual) {
    preview.plans = {{sampler.equal_plan(limit.precisions.front()).value(), {}}};
  } else if (job.kind == PreviewKind::kSample) {
    preview.plans = {sampler.draw(job.seed, 0)};
  } else {
    preview.plans = rule_plans(sampler);
  }
  return preview;
}

}  // namespace bet
