#pragma once

#include <filesystem>

#include "train/state_file.h"
#include "train/trainer.h"

namespace bet {

// The full-size model that probes start from (Theta in the BET paper), and its quality on
// validation.
struct Pretrained {
  ModelParameters table;  // on the CPU
  Metrics validation;
  std::uint64_t steps = 0;        // made by its training
  std::uint64_t best_length = 0;  // TrainingResult::best_length
  bool from_cache = false;
};

// Trains the full-size model until validation no longer improves, or takes it from `cache`, a
// folder that is made where missing. state.identity names everything that decides the model: data,
// split, backbone, options, seed, device. While it trains, its state is kept in `state`, from which
// it resumes. A cache that cannot be read or written is only logged. hooks.stop is taken as
// hooks.leave: without this model there is nothing to search with.
Pretrained pretrain(const TrainingContext& context, const TableShape& shape,
                    const std::filesystem::path& cache, const StateFile& state);

}  // namespace bet
