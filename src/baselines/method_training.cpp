#include "baselines/method_training.h"

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
  TrainingHooks hooks = input.hooks;
  hooks.save = [&](const Checkpoint& state) { input.state.write(state); };
  const auto whole_state = [&] {
    Checkpoint state = model.state();
    state.numbers["enough"] = enough ? 1 : 0;
    state.numbers["stopped"] = stopped ? 1 : 0;
    training.save(state);
    return state;
  };
  const auto after_step = [&] {
    enough = training.after_step();
    return false;
  };
  TrainingLoop loop(model, hooks,
                    {.num_steps = training.num_steps,
                     .phase = training.phase,
                     .is_over = [&] { return enough; },
                     .after_step = after_step,
                     .state = whole_state});
  stopped = !loop.run();
  model.take_mean_losses();  // throws if a loss was not finite
  loop.save();
  return !stopped;
}

}  // namespace bet
