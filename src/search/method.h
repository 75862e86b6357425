#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/pretrained.h"
#include "train/retraining.h"

namespace bet {

// What the compared methods have in common: each proposes plans, which are then retrained from
// scratch, chosen among on validation, trained finally, stored and served like those of the search
// (retrain_plans).

// How a method takes a memory budget.
enum class BudgetUse {
  kNeeded,  // meets it
  kCap,     // reaches the size it reaches; a budget only ends its growth
  kNone     // reaches the size it reaches
};

// What a user may say of how a method searches. None: the method's own.
struct MethodOptions {
  std::optional<std::uint32_t> trainings;  // ciess: models trained from scratch
  std::optional<double> user_share;        // sided: this share instead of the best on validation
  std::optional<double> memory_weight;     // ciess: of the sizes in the reward (lambda)
};

// What a method works with. Everything referred to outlives its search.
struct MethodInput {
  const Split& split;
  const Graph& graph;                   // of the training part, on the run's device
  const TableShape& shape;              // of the plans to propose
  std::optional<std::uint64_t> params;  // most parameters, of all tables; none without a budget
  const RetrainingOptions& retraining;  // as plans will be retrained
  const MethodOptions& options;
  const TrainingHooks& hooks;              // `save` is not for methods: they have `state`
  StateFile state;                         // the file where a method keeps its own state
  std::function<Pretrained()> pretrained;  // the full-size model, from the cache or trained now
};

struct Proposal {
  std::vector<SizePlan> plans;           // at least one; validation chooses
  std::vector<std::string> labels = {};  // by plan: what sets it apart from the others; or empty
  std::uint64_t trainings = 0;           // for the search: models, the full-size one not counted,
  std::uint64_t steps = 0;               // and their steps
  std::string note = {};                 // what whoever reads the figures must know, or nothing
  bool stopped = false;                  // by the hook: with the best so far
};

struct MethodKind {
  std::string_view name;
  std::string_view about;  // for --help
  BudgetUse budget = BudgetUse::kNeeded;
  bool masks = false;            // plans have masks
  bool empty_rows = false;       // rows may end without parameters, whatever --min-dim
  std::uint32_t least_size = 0;  // of a row, where that is above --min-dim
  bool pretrains = false;        // asks for the full-size model
  bool trains = false;           // models of its own, before its plans are retrained
  Proposal (*propose)(const MethodInput& input) = nullptr;
};

// All but the search itself, in the order of docs/methods.md.
std::span<const MethodKind* const> methods();
// Null if there is none of that name.
const MethodKind* find_method(std::string_view name);

}  // namespace bet
