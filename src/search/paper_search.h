#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/candidate_selection.h"
#include "search/probe.h"
#include "search/run_store.h"
#include "train/trainer.h"

namespace bet {

struct PaperSearchOptions {
  std::uint32_t num_iterations = 50;   // T
  std::uint32_t num_candidates = 100;  // m
  std::uint32_t predictor_steps = 2;   // N
  Selection selection = Selection::kDeepSets;
  std::uint64_t seed = 1;
};

struct PaperSearchResult {
  std::vector<Trial> population;  // by iteration
  bool stopped = false;           // by the hook, before the last iteration
  double own_seconds = 0;         // of this process: drawing, predicting, learning, storing
  double waited_seconds = 0;      // the part of it during which no probe ran
};

// What plans are drawn from. Everything referred to outlives the search.
struct SearchSpace {
  const PlanSampler& sampler;
  const Frequencies& frequencies;
};

// The paper's Algorithm 1 from line 3 on: probes one plan an iteration and lets the predictor learn
// from what was measured. All work but the probes runs concurrently with them, on another thread,
// so that a GPU never waits for it: the plan of iteration t + 1 is chosen while probe t runs, from
// what the trials before t have taught. Resumes from the trials in `store`, to the same end as
// without the interruption.
PaperSearchResult search_as_in_paper(const SearchSpace& space, const Prober& prober,
                                     RunStore& store, const PaperSearchOptions& options,
                                     const TrainingHooks& hooks);

// Selective retraining: the trials of highest fitness by index, best first and without doubles.
std::vector<std::size_t> trials_to_retrain(const std::vector<Trial>& population, std::size_t count);

}  // namespace bet
