#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/candidate_selection.h"
#include "search/probe.h"
#include "search/run_store.h"
#include "train/trainer.h"

namespace bet {

struct SearchOptions {
  std::uint32_t num_iterations = 50;   // T
  std::uint32_t num_candidates = 100;  // m
  std::uint32_t predictor_steps = 2;   // N
  Selection selection = Selection::kDeepSets;
  std::uint64_t seed = 1;
};

struct SearchResult {
  std::vector<Trial> population;  // by iteration
  bool stopped = false;           // by the hook, before the last iteration
  double own_seconds = 0;         // of this process: drawing, predicting, storing
  double probe_seconds = 0;
};

// The paper's Algorithm 1 from line 3 on: probes one plan an iteration and lets the predictor learn
// from what was measured. Goes on with the trials in `store`, to the same end as without the break.
SearchResult search_plans(const PlanSampler& sampler, const Frequencies& frequencies,
                          const TableShape& shape, const Prober& prober, RunStore& store,
                          const SearchOptions& options, const TrainingHooks& hooks);

// The plans of highest fitness, best first; without doubles.
std::vector<const Trial*> best_trials(const std::vector<Trial>& population, std::size_t count);

}  // namespace bet
