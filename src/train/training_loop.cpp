#include "train/training_loop.h"

#include <utility>

namespace bet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

TrainingLoop::TrainingLoop(ModelInTraining& model, const TrainingHooks& hooks, Options options)
    : model_(model), hooks_(hooks), options_(std::move(options)) {}

bool TrainingLoop::run() {
  const std::function<void()> save_now =
      options_.save ? [this] { save(); } : std::function<void()>();
  while (model_.num_steps() < options_.num_steps && !(options_.is_over && options_.is_over())) {
    leave_if_asked(hooks_, save_now);
    if (hooks_.stop && hooks_.stop()) return false;
    step();
    const bool measured = options_.after_step && options_.after_step();
    report();
    if (save_is_due(measured)) save();
  }
  return true;
}

void TrainingLoop::step() {
  if (!stepping_) {
    stepping_ = true;
    steps_began_ = Clock::now();
  }
  model_.step();
  ++timed_steps_;
}

void TrainingLoop::pause() {
  model_.executor().wait();
  if (stepping_) step_time_ += seconds_since(steps_began_);
  stepping_ = false;
}

void TrainingLoop::save() {
  pause();
  if (!options_.save) return;
  const Clock::time_point begin = Clock::now();
  options_.save();
  last_saved_ = Clock::now();
  save_seconds_ = seconds_since(begin);
}

double TrainingLoop::step_seconds() const {
  return timed_steps_ > 0 ? step_time_ / static_cast<double>(timed_steps_) : 0.0;
}

void TrainingLoop::report() const {
  if (!hooks_.progress) return;
  hooks_.progress({options_.phase, static_cast<double>(model_.num_steps()),
                   static_cast<double>(options_.num_steps),
                   options_.detail ? options_.detail() : ""});
}

bool TrainingLoop::save_is_due(bool measured) const {
  if (!options_.save) return false;
  // After a measurement a state is worth more, and is saved if that takes at most a twentieth of
  // the time.
  constexpr double kShare = 20;
  const double since = seconds_since(last_saved_);
  return since >= hooks_.save_seconds || (measured && since >= kShare * save_seconds_);
}

bool run_steps(ModelInTraining& model, std::uint64_t num_steps, const TrainingHooks& hooks) {
  TrainingHooks quiet;
  quiet.stop = hooks.stop;
  quiet.leave = hooks.leave;
  TrainingLoop loop(model, quiet, {.num_steps = num_steps});
  if (!loop.run()) return false;
  model.take_mean_losses();  // throws if a loss was not finite
  return true;
}

}  // namespace bet
