#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/stopwatch.h"
#include "train/model_state.h"
#include "train/training_hooks.h"

namespace bet {

// The loop over the steps of every training: before each step it asks the hooks whether to leave or
// to stop, and after it it measures, reports progress and saves the state when that is due. One
// thread.
class TrainingLoop {
 public:
  // What belongs to one training. All functions may be empty.
  struct Options {
    std::uint64_t num_steps = 0;            // of the model when the training is over
    std::string phase = {};                 // for the progress line
    std::function<bool()> is_over = {};     // asked before each step: ends the training earlier
    std::function<bool()> after_step = {};  // true if it measured: then the state is saved sooner
    std::function<std::string()> detail = {};  // for the progress line
    std::function<Checkpoint()> state = {};    // what hooks.save gets; without it nothing is saved
  };

  // `model` must outlive the loop. A model of several ranks leaves, stops and saves where one of
  // them asks for it; either all of them have hooks.save, or none.
  TrainingLoop(ModelInTraining& model, const TrainingHooks& hooks, Options options);

  // False if hooks.stop ended the training. Throws Interrupted if hooks.leave returns true, with
  // the state saved.
  bool run();

  // Waits for the steps under way; the time until the next step is not counted as theirs.
  void pause();

  // Pauses, and gives hooks.save the state, if there are both.
  void save();

  // Mean seconds of a step of this loop, without what happens between steps.
  double step_seconds() const;

 private:
  // What is to be done before the next step.
  struct Wishes {
    bool leave = false;
    bool stop = false;
    bool save = false;
  };
  // Of this process, which wishes to save or not, or of one of the ranks.
  Wishes wishes_of_all(bool save) const;

  void step();
  void report() const;
  bool can_save() const { return hooks_.save && options_.state; }
  bool save_is_due(bool measured) const;

  ModelInTraining& model_;
  TrainingHooks hooks_;
  Options options_;
  Stopwatch since_save_;
  double save_seconds_ = 0;  // that the last save took
  bool stepping_ = false;
  Stopwatch step_watch_;
  double step_time_ = 0;
  std::uint64_t timed_steps_ = 0;
};

// Makes all steps up to `num_steps` with nothing between them: no measurement, no progress, no
// state. False if hooks.stop ended it. Throws if a loss was not finite.
bool run_steps(ModelInTraining& model, std::uint64_t num_steps, const TrainingHooks& hooks);

}  // namespace bet
