#include "train/training_loop.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bet {

TrainingLoop::TrainingLoop(ModelInTraining& model, const TrainingHooks& hooks, Options options)
    : model_(model), hooks_(hooks), options_(std::move(options)) {}

bool TrainingLoop::run() {
  bool save_due = false;
  while (model_.num_steps() < options_.num_steps && !(options_.is_over && options_.is_over())) {
    const Wishes wishes = wishes_of_all(save_due);
    if (wishes.save || wishes.leave) save();
    if (wishes.leave) throw_interrupted();
    if (wishes.stop) return false;
    step();
    const bool measured = options_.after_step && options_.after_step();
    report();
    const bool due = save_is_due(measured);
    if (due && model_.ranks() == nullptr) save();
    // Ranks agree on it with the rest before the next step; what ends their training saves it.
    save_due = due && model_.ranks() != nullptr;
  }
  return true;
}

TrainingLoop::Wishes TrainingLoop::wishes_of_all(bool save) const {
  const bool leave = hooks_.leave && hooks_.leave();
  // Who leaves is not asked whether to stop: a stop may be told once.
  const bool stop = !leave && hooks_.stop && hooks_.stop();
  if (model_.ranks() == nullptr) return {leave, stop, save};
  // Ranks wait for each other in every sum.
  std::array<double, 3> counts = {leave ? 1.0 : 0.0, stop ? 1.0 : 0.0, save ? 1.0 : 0.0};
  model_.ranks()->sum(counts);
  return {counts[0] > 0, counts[1] > 0, counts[2] > 0};
}

void TrainingLoop::step() {
  if (!stepping_) {
    stepping_ = true;
    step_watch_.restart();
  }
  model_.step();
  ++timed_steps_;
}

void TrainingLoop::pause() {
  model_.executor().wait();
  if (stepping_) step_time_ += step_watch_.seconds();
  stepping_ = false;
}

void TrainingLoop::save() {
  pause();
  if (!can_save()) return;
  const Stopwatch watch;
  hooks_.save(options_.state());
  save_seconds_ = watch.seconds();
  since_save_.restart();
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
  if (!can_save()) return false;
  // Saving takes at most a twentieth of the time, unless states would become too old. After a
  // measurement a state is worth more.
  constexpr double kShare = 20;
  const double since = since_save_.seconds();
  const double least = std::min(kShare * save_seconds_, kShare * hooks_.save_seconds);
  return since >= least && (measured || since >= hooks_.save_seconds);
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
