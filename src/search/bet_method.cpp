#include "base/error.h"
#include "plan/rule_plans.h"
#include "search/bet_search.h"
#include "search/method.h"

namespace bet {
namespace {

struct Preset {
  std::uint32_t plans;
  std::uint32_t finalists;
};

Preset preset_of(Effort effort) {
  switch (effort) {
    case Effort::kQuick:
      return {12, 1};
    case Effort::kNormal:
      return {24, 2};
    case Effort::kThorough:
      break;
  }
  return {120, 6};
}

void set_defaults(MethodOptions& options, Effort effort, const BackboneKind& /*backbone*/) {
  const Preset preset = preset_of(effort);
  options.iterations = options.iterations.value_or(preset.plans);
  options.retrain_top = options.retrain_top.value_or(preset.finalists);
}

std::vector<Option<MethodOptions>> options_of_search() {
  const auto about = [](const char* name, const char* help) {
    return OptionAbout{name, "Search", Affects::kResult, help};
  };
  using Row = MethodOptions;
  return {make_option<Row>(
              about("iterations", "plans that the search tries in addition to the rules"),
              [](auto& o) -> auto& { return o.iterations; })
              .within(0, 1'000'000),
          make_option<Row>(
              about("retrain-top", "best plans of the search's last rung"),
              [](auto& o) -> auto& { return o.retrain_top; })
              .within(1, 1'000)};
}

// Data of fewer interactions to train on are expected to be few, for which shorter trainings are
// best: sets of up to 125,000 were, Gowalla's 510,000 are not.
constexpr std::size_t kFewInteractions = 300'000;

SearchOptions search_options(const MethodOptions& options, std::uint64_t seed) {
  return {.num_plans = options.iterations.value(),
          .finalists = options.retrain_top.value(),
          .seed = seed};
}

// Whether plans are retrained at lower rates than they were compared at. Equal sizes may gain more
// from these than the best of the search: both are retrained then, and validation chooses.
bool retrains_equal_sizes(const RetrainingOptions& retraining, bool choose_loss) {
  const bool by_bpr = !choose_loss && retraining.model.losses_of(1)[0].kind == LossKind::kBpr;
  const BackboneKind& backbone = find_backbone(retraining.model.backbone);
  return by_bpr && retraining.schedule.linear && backbone.fast.far_rate > 1;
}

SearchWork expected_work(const MethodOptions& options, const RetrainingOptions& retraining,
                         bool choose_loss, const Split& /*split*/) {
  const BackboneKind& backbone = find_backbone(retraining.model.backbone);
  const std::size_t losses = choose_loss ? most_losses_to_try(backbone) : 1;
  const std::size_t num_rules = num_rule_plans(1, backbone.uses_graph);
  SearchWork work{
      .steps = static_cast<double>(expected_steps(search_options(options, 0), backbone, num_rules,
                                                  1, losses, retraining.schedule.max_steps))};
  if (retrains_equal_sizes(retraining, choose_loss)) {
    work.plans = 2;
    work.choice = PlanChoice::kAtFinalDensity;
  }
  return work;
}

Proposal propose(const MethodInput& input) {
  SharedTasks tasks(input.ranks, input.message);
  // What other ranks than the first measure is kept by that one.
  RunStore store(tasks.is_first_rank() ? input.files.trials() : ":memory:", input.state.identity);
  SearchOptions options = search_options(input.options, input.retraining.model.seed);
  options.expects_few_data = input.split.counts().train < kFewInteractions;
  const std::vector<PlanSampler> samplers = input.samplers();
  const TrainingContext context = {input.split, input.graph, input.retraining.model,
                                   input.retraining.schedule, input.hooks};
  RungTrainer trainer(context, input.retraining.final_part, input.choose_loss);
  const auto search = [&] {
    return search_plans(samplers, trainer, store, tasks, options, input.hooks, input.has_plan);
  };
  const bool is_over = input.continue_search || (tasks.is_first_rank() && input.search_is_over());
  options.only_stored = tasks.from_first_rank({is_over ? 1.0 : 0.0}).at(0) > 0;
  SearchResult searched = search();
  if (input.continue_search) {
    BET_CHECK(searched.stopped, input.files.folder.string(), ": its search is complete (",
              searched.trials.size(), " trainings)");
    if (tasks.is_first_rank()) input.discard_retraining();
    options.only_stored = false;
    searched = search();
  }
  if (!tasks.is_first_rank()) return {};  // which has the same result
  if (!searched.chosen) throw Interrupted("stopped before the first plan was measured");
  Proposal proposal;
  proposal.trials = std::move(searched.trials);
  proposal.trial_of_plan = {*searched.chosen};
  proposal.length_trials = searched.num_lengths;
  proposal.plans = {proposal.trials[*searched.chosen].sampled.plan};
  constexpr std::size_t kEqualSizes = 0;  // the first training of a search
  const SizePlan& equal_sizes = proposal.trials[kEqualSizes].sampled.plan;
  if (retrains_equal_sizes(input.retraining, input.choose_loss) && !searched.stopped &&
      !(equal_sizes == proposal.plans[0])) {
    proposal.trial_of_plan.push_back(kEqualSizes);
    proposal.plans.push_back(equal_sizes);
    proposal.choice = PlanChoice::kAtFinalDensity;
  }
  if (input.choose_loss) proposal.loss = searched.loss;
  proposal.planned_trials = searched.stopped ? searched.num_planned : proposal.trials.size();
  proposal.trainings = proposal.trials.size();
  proposal.steps = searched.steps;
  proposal.stopped = searched.stopped;
  return proposal;
}

}  // namespace

// BET as it is now: the paper's problem and sampler, but plans are compared by real trainings at
// the density of the final one, simple rules among them (search/bet_search.h).
extern const MethodKind kBet;
const MethodKind kBet = {.name = "bet",
                         .about = "search",
                         .empty_with_graph = true,
                         .trains = true,
                         .by_trials = true,
                         .chooses_loss = true,
                         .chooses_precision = true,
                         .shares_trainings = true,
                         .fills = true,
                         .propose = propose,
                         .options = options_of_search,
                         .set_defaults = set_defaults,
                         .expected_work = expected_work};

}  // namespace bet
