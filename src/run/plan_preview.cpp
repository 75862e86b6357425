#include "run/plan_preview.h"

#include "plan/rule_plans.h"
#include "run/fit_options.h"
#include "run/spending.h"

namespace bet {
namespace {

// As `bet fit` has them by default, for the method whose plans are shown.
FitOptions fit_defaults(const PlanPreviewJob& job) {
  FitOptions options;
  options.data = job.data;
  options.budget = job.budget;
  options.budget_for = job.budget_for;
  options.dim = job.dim;
  switch (job.kind) {
    case PreviewKind::kSearch:
      break;
    case PreviewKind::kEqual:
      options.method = "es";
      break;
    case PreviewKind::kRandom:
      options.method = "mr";
      break;
    case PreviewKind::kSample:
      options.method = "bet-paper";
      break;
  }
  return with_defaults(options);
}

}  // namespace

PlanPreview preview_plans(const PlanPreviewJob& job) {
  Dataset dataset = job.data.load();
  const Split split = job.data.split_of(dataset);
  const FitOptions options = fit_defaults(job);
  PlanPreview preview;
  preview.shape = table_shape(options, dataset);
  const Spending spending = resolve_spending(options, dataset, split);
  preview.allowed = spending.budget.value();
  if (preview.allowed.covers_full) {
    const Precision precision = options.precision.value_or(Precision::kFloat32);
    preview.plans = {{full_plan(preview.shape).with_precision(precision), {}}};
    return preview;
  }
  const Frequencies frequencies = train_frequencies(split);
  for (const PlanLimit& limit : spending.limits) {
    if (job.kind == PreviewKind::kRandom) {
      preview.plans = {{mixed_random_plan(preview.shape, preview.allowed.params, job.seed)
                            .with_precision(limit.precisions.front()),
                        {}}};
      return preview;
    }
    const PlanSampler sampler(preview.shape, limit, frequencies.users, frequencies.items);
    if (job.kind == PreviewKind::kSample) {
      preview.plans = {sampler.draw(job.seed, 0)};
      return preview;
    }
    if (job.kind == PreviewKind::kEqual) {
      preview.plans = {{sampler.equal_plan(limit.precisions.front()).value(), {}}};
      return preview;
    }
    for (SampledPlan& rule : rule_plans(sampler)) preview.plans.push_back(std::move(rule));
  }
  return preview;
}

}  // namespace bet
