#include "baselines/method_training.h"

#include <utility>

#include "train/training_loop.h"

namespace bet {

bool train_method(const MethodInput& input, ModelInTraining& model,
                  const MethodTraining& training) {
  bool enough = false;
  bool stopped = false;
  if (const std::optional<Checkpoint> state = input.state.read()) {
    model.restore(*state);
    training.restore(*state);
    enough = state->number("enough") != 0;
    stopped = state->number("stopped") != 0;
  }
  // A training that the user stopped is over as well: the retraining of its plan may have begun.
  if (enough || stopped || model.num_steps() >= training.num_steps) return !stopped;
  const auto save = [&] {
    Checkpoint state = model.state();
    state.numbers["enough"] = enough ? 1 : 0;
    state.numbers["stopped"] = stopped ? 1 : 0;
    training.save(state);
    input.state.write(std::move(state));
  };
  const auto after_step = [&] {
    enough = training.after_step();
    return false;
  };
  TrainingLoop loop(model, input.hooks,
                    {.num_steps = training.num_steps,
                     .phase = training.phase,
                     .is_over = [&] { return enough; },
                     .after_step = after_step,
                     .save = save});
  stopped = !loop.run();
  model.take_mean_losses();  // throws if a loss was not finite
  loop.save();
  return !stopped;
}

}  // namespace bet
