#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "search/method.h"
#include "train/model_state.h"

namespace bet {

// How a method trains a model of its own.
struct MethodTraining {
  std::string phase;            // for the progress line
  std::uint64_t num_steps = 0;  // at most
  // Called after each step; may read and change whatever belongs to the method. True ends the
  // training.
  std::function<bool()> after_step;
  // The method's own state, saved in the same checkpoint as the model and restored from it.
  std::function<void(Checkpoint&)> save;
  std::function<void(const Checkpoint&)> restore;
};

// Trains the model of a method. Resumes from input.state to the same bits, and keeps the state
// there every input.hooks.save_seconds and at the end. False if hooks.stop ended the training, now
// or before the resume.
bool train_method(const MethodInput& input, ModelInTraining& model, const MethodTraining& training);

}  // namespace bet
