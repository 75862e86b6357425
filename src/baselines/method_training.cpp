#include "baselines/method_training.h"

#include <chrono>

#include "base/error.h"

namespace bet {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

bool train_method(const MethodInput& input, const char* phase, ModelInTraining& model,
                  std::uint64_t num_steps, const OwnState& own,
                  const std::function<bool()>& after_step) {
  bool enough = false;
  bool stopped = false;
  if (std::filesystem::exists(input.state)) {
    const Checkpoint state = read_checkpoint(input.state);
    BET_CHECK(state.text("identity") == input.identity, input.state.string(),
              ": was written for other data or options");
    restore(model, state);
    if (own.restore) own.restore(state);
    enough = state.number("enough") != 0;
    stopped = state.number("stopped") != 0;
  }
  const auto save = [&] {
    Checkpoint state = checkpoint_of(model);
    state.texts["identity"] = input.identity;
    state.numbers["enough"] = enough ? 1 : 0;
    state.numbers["stopped"] = stopped ? 1 : 0;
    if (own.save) own.save(state);
    write_checkpoint(state, input.state);
  };
  // Stopped by the user it is over as well: what comes of it may be in training already.
  if (enough || stopped || model.num_steps() >= num_steps) return !stopped;
  Clock::time_point saved = Clock::now();
  while (!enough && model.num_steps() < num_steps) {
    leave_if_asked(input.hooks, save);
    stopped = input.hooks.stop && input.hooks.stop();
    if (stopped) break;
    model.step();
    enough = after_step();
    if (input.hooks.progress) {
      input.hooks.progress(
          {phase, static_cast<double>(model.num_steps()), static_cast<double>(num_steps), ""});
    }
    if (std::chrono::duration<double>(Clock::now() - saved).count() < input.hooks.save_seconds) {
      continue;
    }
    save();
    saved = Clock::now();
  }
  model.take_mean_losses();  // throws if one was not finite
  save();
  return !stopped;
}

}  // namespace bet
