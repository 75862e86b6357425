#pragma once

#include <cstdint>
#include <functional>

#include "search/method.h"
#include "train/model_state.h"

namespace bet {

// What a method has beside the model in training, to be saved with it, and back.
struct OwnState {
  std::function<void(Checkpoint&)> save;
  std::function<void(const Checkpoint&)> restore;
};

// Trains the model of a method until `num_steps` are made or `after_step`, which is called after
// each and may look at and change what it likes, says that it is enough. Goes on from what
// input.state has, to the same bits, and keeps the state there every input.hooks.save_seconds and
// at the end. False if the stop hook ended it. `phase` is for the progress line.
bool train_method(const MethodInput& input, const char* phase, ModelInTraining& model,
                  std::uint64_t num_steps, const OwnState& own,
                  const std::function<bool()>& after_step);

}  // namespace bet
