#include "base/error.h"
#include "search/method.h"
#include "search/paper_search.h"

namespace bet {
namespace {

// As the paper's experiments have them, whatever the effort.
void set_defaults(MethodOptions& options, Effort /*effort*/, const BackboneKind& backbone) {
  const PaperSearchOptions paper;
  constexpr std::uint32_t kEpochs = 10;
  constexpr std::uint32_t kRetrained = 5;
  options.iterations = options.iterations.value_or(paper.num_iterations);
  options.candidates = options.candidates.value_or(paper.num_candidates);
  options.finetune_epochs = options.finetune_epochs.value_or(
      static_cast<std::uint32_t>(backbone.paper_probe_epochs * kEpochs));
  options.retrain_top = options.retrain_top.value_or(kRetrained);
  options.selection = options.selection.value_or(paper.selection);
}

std::vector<Option<MethodOptions>> options_of_search() {
  constexpr double kMost = 1'000'000;
  const auto about = [](const char* name, const char* help) {
    return OptionAbout{name, "Search", Affects::kResult, help};
  };
  using Row = MethodOptions;
  return {make_option<Row>(
              about("iterations", "plans that the search probes"),
              [](auto& o) -> auto& { return o.iterations; })
              .within(1, kMost),
          make_option<Row>(
              about("candidates", "plans drawn for each choice"),
              [](auto& o) -> auto& { return o.candidates; })
              .within(1, kMost),
          make_option<Row>(
              about("finetune-epochs", "epochs of a probe"),
              [](auto& o) -> auto& { return o.finetune_epochs; })
              .within(1, 100'000),
          make_option<Row>(
              about("retrain-top", "best plans that are trained from scratch"),
              [](auto& o) -> auto& { return o.retrain_top; })
              .within(1, 1'000),
          make_choice<Row, Selection>(
              about("selection", "how plans are chosen: deepsets, simple or random"),
              {{"deepsets", Selection::kDeepSets},
               {"simple", Selection::kSimple},
               {"random", Selection::kRandom}},
              [](auto& o) -> auto& { return o.selection; })};
}

SearchWork expected_work(const MethodOptions& options, const RetrainingOptions& /*retraining*/,
                         bool /*choose_loss*/, const Split& split) {
  const Schedule probe = finetune_schedule(split.counts().train, options.finetune_epochs.value());
  return {.steps = static_cast<double>(options.iterations.value() * probe.max_steps),
          .plans = options.retrain_top.value()};
}

// How many plans the search measures.
std::uint32_t iterations_to_make(const MethodInput& input, const RunStore& store) {
  const std::uint32_t asked = input.options.iterations.value();
  const auto stored = static_cast<std::uint32_t>(store.trials(input.shape).size());
  if (input.continue_search) {
    BET_CHECK(stored < asked, input.files.folder.string(), ": its search is complete (", stored,
              " of ", asked, " plans)");
    input.discard_retraining();
    return asked;
  }
  return input.search_is_over() ? stored : asked;
}

Proposal propose(const MethodInput& input) {
  const Pretrained full = input.pretrained();
  RunStore store(input.files.trials(), input.state.identity);
  const PaperSearchOptions options = {.num_iterations = iterations_to_make(input, store),
                                      .num_candidates = input.options.candidates.value(),
                                      .selection = input.options.selection.value(),
                                      .seed = input.training.model.seed};
  const Frequencies frequencies = train_frequencies(input.split);
  const PlanSampler sampler = input.samplers().front();
  const ModelParameters theta = full.table.to(input.graph.device());
  const Schedule finetune =
      finetune_schedule(input.split.counts().train, input.options.finetune_epochs.value());
  const Prober prober({input.split, input.graph, input.training.model, finetune, input.hooks},
                      theta, full.validation.score());
  TrainingHooks hooks = input.hooks;
  hooks.log = [&](const std::string& text) {
    if (input.has_plan) input.has_plan();
    if (input.hooks.log) input.hooks.log(text);
  };
  PaperSearchResult searched =
      search_as_in_paper({sampler, frequencies}, prober, store, options, hooks);
  if (searched.population.empty()) throw Interrupted("stopped before the first plan was measured");

  Proposal proposal;
  proposal.trials = std::move(searched.population);
  proposal.trial_of_plan = trials_to_retrain(proposal.trials, input.options.retrain_top.value());
  for (const std::size_t trial : proposal.trial_of_plan) {
    proposal.plans.push_back(proposal.trials[trial].sampled.plan);
  }
  proposal.planned_trials = input.options.iterations.value();
  proposal.trainings = proposal.trials.size();
  proposal.steps = proposal.trials.size() * finetune.max_steps;
  proposal.stopped = searched.stopped || proposal.trials.size() < proposal.planned_trials;
  proposal.own_seconds = searched.own_seconds;
  proposal.waited_seconds = searched.waited_seconds;
  return proposal;
}

}  // namespace

// BET exactly as in its paper: Algorithm 1 over probes that start from the full-size model, with
// its predictor, then selective retraining of the best plans, chosen on validation. No rules, no
// empty rows.
extern const MethodKind kBetPaper;
const MethodKind kBetPaper = {.name = "bet-paper",
                              .about = "the search of the BET paper",
                              .pretrains = true,
                              .trains = true,
                              .by_trials = true,
                              .propose = propose,
                              .options = options_of_search,
                              .set_defaults = set_defaults,
                              .expected_work = expected_work};

}  // namespace bet
