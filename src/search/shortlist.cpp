#include "search/shortlist.h"

#include <algorithm>
#include <numeric>

#include "base/precision_text.h"
#include "search/rung.h"

namespace bet {
namespace {

struct ShortScores {
  std::vector<double> scores;  // of the plans; empty if hooks.stop ended it
  std::uint64_t steps = 0;     // of all trainings together
};

ShortScores short_scores(const MethodInput& input, const RulePlans& rules) {
  const TrainingContext context = {input.split, input.graph, input.retraining.model,
                                   input.retraining.schedule, input.hooks};
  RungTrainer trainer(context, input.retraining.final_part, input.choose_loss);
  const std::optional<LengthByBpr> best = trainer.length(rules.plans.front());
  if (!best) return {};
  const std::uint64_t length = best->is_short ? best->length : trainer.whole_length();
  const std::uint64_t steps =
      std::max(length / 4, fewest_ranking_steps(trainer.backbone(), length));
  std::vector<PlanAndLoss> trained;
  for (const SizePlan& plan : rules.plans) {
    const std::size_t first = trainer.first_loss(plan, best->is_short);
    trained.push_back({&plan, trainer.losses(plan, length)[first]});
  }
  std::vector<double> scores;
  const auto total = static_cast<double>(trained.size());
  for (const std::size_t end : trainer.groups(trained, 1)) {
    const std::size_t begin = scores.size();
    const std::size_t count = end - begin;
    const std::vector<double> more =
        trainer.scores(std::span(trained).subspan(begin, count), steps, length, [&](double part) {
          if (!input.hooks.progress) return;
          const double done = static_cast<double>(begin) + part * static_cast<double>(count);
          input.hooks.progress({"search", done, total, ""});
        });
    if (more.empty()) return {};
    scores.insert(scores.end(), more.begin(), more.end());
  }
  return {scores, trainer.whole_length() + scores.size() * steps};
}

}  // namespace

void add_rule_plans(std::span<const PlanSampler> samplers, const std::string& label,
                    const RulePlan& rule, RulePlans& rules) {
  for (const PlanSampler& sampler : samplers) {
    const PlanLimit& limit = sampler.limit();
    for (const TablePrecision& precision : limit.precisions) {
      if (precision.users != precision.items) continue;
      std::optional<SizePlan> plan = rule(sampler, precision.users);
      if (!plan || std::ranges::find(rules.plans, *plan) != rules.plans.end()) continue;
      std::string text = label;
      if (samplers.size() > 1 || limit.precisions.size() > 1) {
        text += (text.empty() ? "" : ", ") + precision_text(precision);
      }
      if (samplers.size() > 1) text += " " + std::string(form_name(limit.form));
      rules.plans.push_back(std::move(*plan));
      rules.labels.push_back(std::move(text));
    }
  }
}

void shortlist(const MethodInput& input, std::size_t count, RulePlans& rules) {
  const SizePlan& first = rules.plans.front();
  const bool alike = std::ranges::all_of(rules.plans, [&](const SizePlan& plan) {
    return plan.precision() == first.precision() && plan.form() == first.form();
  });
  if (alike || rules.plans.size() <= count) return;
  const auto [scores, steps] = short_scores(input, rules);
  std::vector<std::size_t> order(rules.plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  rules.stopped = scores.empty();
  if (!rules.stopped) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&scores = scores](std::size_t i) { return scores[i]; });
    rules.trainings = 1 + scores.size();
    rules.steps = steps;
  }
  RulePlans best;
  best.trainings = rules.trainings;
  best.steps = rules.steps;
  best.stopped = rules.stopped;
  for (const std::size_t i : std::span(order).first(count)) {
    best.plans.push_back(std::move(rules.plans[i]));
    best.labels.push_back(std::move(rules.labels[i]));
  }
  rules = std::move(best);
}

Proposal proposal_of(RulePlans rules) {
  Proposal proposal;
  proposal.plans = std::move(rules.plans);
  // One plan without a label was no choice.
  if (proposal.plans.size() > 1 || !rules.labels[0].empty()) {
    proposal.labels = std::move(rules.labels);
  }
  proposal.trainings = rules.trainings;
  proposal.steps = rules.steps;
  proposal.stopped = rules.stopped;
  return proposal;
}

}  // namespace bet
