#include "train/training_loop.h"

#include <utility>

namespace bet {
namespace {

// Asks all ranks, each of which may have the hook or not.
std::function<bool()> asked_of_all(std::function<bool()> hook, RankGroup& ranks) {
  return [hook = std::move(hook), &ranks] { return ranks.any(hook && hook()); };
}

}  // namespace

TrainingLoop::TrainingLoop(ModelInTraining& model, const TrainingHooks& hooks, Options options)
    : model_(model), hooks_(hooks), options_(std::move(options)) {
  if (model.ranks() == nullptr) return;
  hooks_.leave = asked_of_all(hooks.leave, *model.ranks());
  hooks_.stop = asked_of_all(hooks.stop, *model.ranks());
}

bool TrainingLoop::run() {
  const std::function<void()> save_now = can_save() ? [this] { save(); } : std::function<void()>();
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
  // After a measurement a state is worth more, and is saved if that takes at most a twentieth of
  // the time.
  constexpr double kShare = 20;
  const double since = since_save_.seconds();
  const bool due = since >= hooks_.save_seconds || (measured && since >= kShare * save_seconds_);
  return model_.ranks() == nullptr ? due : model_.ranks()->any(due);
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
