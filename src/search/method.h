#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/option.h"
#include "base/run_files.h"
#include "search/method_options.h"
#include "search/pretrained.h"
#include "search/trial.h"
#include "train/retraining.h"

namespace bet {

class World;

// What the search and the compared methods have in common: each proposes plans, which are then
// retrained from scratch, chosen among on validation, trained finally, stored and served in the
// same way (train/retraining.h).

// How a method takes a memory budget.
enum class BudgetUse {
  kNeeded,  // meets it
  kCap,     // reaches the size it reaches; a budget only ends its growth
  kNone     // reaches the size it reaches
};

// What a method works with. Everything referred to outlives its search.
struct MethodInput {
  const Split& split;
  const Graph& graph;       // of the training part, on the run's device
  const TableShape& shape;  // of the plans to propose
  // Most parameters, of all tables, however they are distributed; none without a budget.
  std::optional<std::uint64_t> params;
  const RetrainingOptions& training;       // of the method's own models: by BPR with --loss auto
  const RetrainingOptions& retraining;     // as plans will be retrained,
  bool choose_loss;                        // by a loss that is chosen then (--loss auto)
  const MethodOptions& options;            // with every default of the method set
  const TrainingHooks& hooks;              // `save` is not for methods: they have `state`
  StateFile state;                         // the file where a method keeps its own state
  std::function<Pretrained()> pretrained;  // the full-size model, from the cache or trained now
  // The folder for what other runs can use as well, and all that decides a model which is trained
  // by `training`: data, split, backbone, options, seed, device, but no budget. Empty: no cache.
  std::filesystem::path cache = {};
  std::string training_identity = {};
  // As `params`, for methods whose plans come from a PlanSampler, which spends bytes to the last:
  // by form, of those that there is a choice of; empty without a budget.
  std::vector<PlanLimit> limits = {};
  RunFiles files = {};           // of the run, for what a method keeps in addition to `state`
  bool resumes = false;          // a run that was interrupted
  bool continue_search = false;  // resume a search that was cut short, not what follows it
  // Called once a stop would leave a plan to retrain; may be empty.
  std::function<void()> has_plan = {};
  // The ranks that share the trainings of a method that `shares_trainings`; null: one process. All
  // but rank 0 have no files.
  World* ranks = nullptr;
  std::function<void(const std::string&)> message = {};  // a line for people; may be empty

  // A sampler of plans for each of the limits, which the method needs. The first is of the usual
  // form.
  std::vector<PlanSampler> samplers() const;

  // Of methods that measure plans one by one. Once retraining has begun the search is over, however
  // short it was cut: the state on disk belongs to the plans that were best then.
  bool search_is_over() const;
  // Removes what was made of the search so far, as if the run had been killed in its search.
  void discard_retraining() const;
};

struct Proposal {
  std::vector<SizePlan> plans;                    // at least one; validation chooses,
  PlanChoice choice = PlanChoice::kOnValidation;  // in this way
  // Of its plan, where the method chooses among losses as well.
  std::optional<KnownLoss> loss = {};
  std::vector<std::string> labels = {};  // by plan: what sets it apart from the others; or empty
  std::uint64_t trainings = 0;           // of the search: models, the full-size one not counted,
  std::uint64_t steps = 0;               // and their steps
  std::string note = {};                 // what whoever reads the figures must know, or nothing
  bool stopped = false;                  // by the hook: these are the best so far

  // Of a method that measures plans one by one, all that it measured; empty for the others.
  std::vector<Trial> trials = {};
  std::vector<std::size_t> trial_of_plan = {};  // by plan: its index in `trials`
  std::size_t length_trials = 0;                // the first ones, which found the length: bet
  std::uint64_t planned_trials = 0;             // that a search which is not cut short makes
  double own_seconds = 0;                       // SearchResult's
  double waited_seconds = 0;
};

// How much work a method expects to have, for the progress of the run.
struct SearchWork {
  double steps = 0;                               // of training plans
  std::uint32_t plans = 1;                        // that it will propose,
  PlanChoice choice = PlanChoice::kOnValidation;  // to be chosen among in this way
};

struct MethodKind {
  std::string_view name;
  std::string_view about;  // for --help
  BudgetUse budget = BudgetUse::kNeeded;
  bool masks = false;             // plans have masks
  bool empty_rows = false;        // rows may end without parameters, whatever --min-dim
  bool empty_with_graph = false;  // the default of --min-dim is 0 where the backbone has a graph
  std::uint32_t least_size = 0;   // of a row, where that is above --min-dim
  bool pretrains = false;         // asks for the full-size model
  bool trains = false;            // trains models of its own, before its plans are retrained
  // Measures plans one by one (Proposal::trials): stopped before the first, it has none to propose,
  // and a search that was cut short can be continued.
  bool by_trials = false;
  bool chooses_loss = false;  // Proposal::loss, with --loss auto
  // Plans have several precisions and forms; else all have the first of the limits'.
  bool chooses_precision = false;
  bool shares_trainings = false;  // among the ranks of a run
  bool fills = false;             // plans may grow until they spend all of a budget of bytes
  bool any_order = false;         // sizes need not fall with the frequency
  // Whether the method proposes one plan without training anything, where precision and form are
  // given; null: never.
  bool (*proposes_one_plan)(const MethodOptions& options) = nullptr;
  Proposal (*propose)(const MethodInput& input) = nullptr;
  // Its rows of the table of options; null: it has none.
  std::vector<Option<MethodOptions>> (*options)() = nullptr;
  // Sets the options that were not given; null: there are none to set.
  void (*set_defaults)(MethodOptions& options, Effort effort,
                       const BackboneKind& backbone) = nullptr;
  // Null: not known.
  SearchWork (*expected_work)(const MethodOptions& options, const RetrainingOptions& retraining,
                              bool choose_loss, const Split& split) = nullptr;
};

// For MethodKind::proposes_one_plan.
inline bool always_one_plan(const MethodOptions& /*options*/) { return true; }

// All of them, in the order of docs/methods.md.
std::span<const MethodKind* const> methods();
// Throws on other names.
const MethodKind& find_method(std::string_view name);

}  // namespace bet
