#pragma once

#include <filesystem>
#include <string>

#include "train/trainer.h"

namespace bet {

// The full-size model that probes start from (Theta_0), and its quality on validation.
struct Pretrained {
  ModelParameters table;  // on the CPU
  Metrics validation;
  std::uint64_t steps = 0;        // that were made
  std::uint64_t best_length = 0;  // TrainingResult::best_length
  bool from_cache = false;
};

// Trains the full-size model on `graph` until validation no longer improves, or takes it from
// `cache`, a folder that is made where missing. `identity` names all that decides the model: data,
// split, backbone, options, seed, device. While it trains its state is kept in `state_path`, from
// which it goes on if that is there. A cache that cannot be read or written is only logged. The
// stop hook is taken as `leave`: without this model there is nothing to search with.
Pretrained pretrain(const Split& split, const Graph& graph, const TableShape& shape,
                    const ModelOptions& model, const Schedule& schedule, const TrainingHooks& hooks,
                    const std::filesystem::path& cache, const std::string& identity,
                    const std::filesystem::path& state_path);

}  // namespace bet
