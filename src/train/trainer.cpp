#include "train/trainer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "train/evaluator.h"
#include "train/training_length.h"

namespace bet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

std::string measurement_text(const Measurement& m) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "step %llu  loss %.5f  validation %.5f  recall@20 %.5f  ndcg@20 %.5f",
                static_cast<unsigned long long>(m.step), m.loss, m.validation.score(),
                m.validation.recall[2], m.validation.ndcg[2]);
  return text;
}

// A training under way: the models and what the loop over their steps must remember.
class Training {
 public:
  Training(const Graph& graph, std::span<const SizePlan> plans, const ModelOptions& options,
           const Schedule& schedule, const TrainingHooks& hooks)
      : hooks_(hooks), model_(graph, plans, options, schedule), last_saved_(Clock::now()) {}

  // True if the caller asked to stop instead of a step.
  bool step() {
    if (hooks_.stop && hooks_.stop()) return true;
    if (!stepping_) {
      stepping_ = true;
      steps_began_ = Clock::now();
    }
    model_.step();
    ++timed_steps_;
    return false;
  }

  // Waits for the steps under way; what follows until the next one is not their time.
  void pause() {
    model_.executor().wait();
    if (stepping_) step_time_ += seconds_between(steps_began_, Clock::now());
    stepping_ = false;
  }

  // Mean seconds of a step of this process.
  double step_seconds() const {
    return timed_steps_ > 0 ? step_time_ / static_cast<double>(timed_steps_) : 0.0;
  }

  void report(const char* phase, std::uint64_t last_step, const std::string& detail) const {
    if (!hooks_.progress) return;
    hooks_.progress(
        {phase, static_cast<double>(model_.num_steps()), static_cast<double>(last_step), detail});
  }

  Checkpoint state() {
    pause();
    return checkpoint_of(model_);
  }

  // Whether it is time to save; after a measurement also if saving costs next to nothing.
  bool save_is_due(bool measured) const {
    if (!hooks_.save) return false;
    constexpr double kShare = 20;  // of the time between saves, at most one such part
    const double since = seconds_between(last_saved_, Clock::now());
    return since >= hooks_.save_seconds || (measured && since >= kShare * save_seconds_);
  }

  void save(const Checkpoint& checkpoint) {
    const Clock::time_point begin = Clock::now();
    hooks_.save(checkpoint);
    last_saved_ = Clock::now();
    save_seconds_ = seconds_between(begin, last_saved_);
  }

  ModelInTraining& model() { return model_; }

 private:
  const TrainingHooks& hooks_;
  ModelInTraining model_;
  Clock::time_point last_saved_;
  double save_seconds_ = 0;  // that the last one took
  bool stepping_ = false;
  Clock::time_point steps_began_;
  double step_time_ = 0;
  std::uint64_t timed_steps_ = 0;
};

// A plan's best weights so far and how long ago they were.
struct Best {
  ModelParameters table;
  Metrics metrics;
  Metrics last;           // as measured last
  bool overfits = false;  // a measurement was clearly below an earlier one
  std::uint64_t step = 0;
  std::uint32_t since = 0;  // measurements without a better one

  // Strictly better measurements are kept.
  void offer(const Metrics& measured, const ModelParameters& tables, std::size_t model,
             std::uint64_t at_step) {
    // Falls of less are noise between measurements, on a few hundred users.
    constexpr double kClearly = 0.02;
    overfits = overfits || measured.score() < (1 - kClearly) * metrics.score();
    last = measured;
    if (table.values.defined() && measured.score() <= metrics.score()) {
      ++since;
      return;
    }
    table = tables.only(model);
    metrics = measured;
    step = at_step;
    since = 0;
  }

  void save(Checkpoint& checkpoint, std::size_t model) const {
    if (!table.values.defined()) return;
    const std::string name = "best " + std::to_string(model);
    checkpoint.tensors[name] = table.values.cpu();
    if (table.weights.defined()) checkpoint.tensors[name + " weights"] = table.weights.cpu();
    checkpoint.numbers[name + " step"] = static_cast<double>(step);
    checkpoint.numbers[name + " since"] = since;
    checkpoint.numbers[name + " overfits"] = overfits ? 1 : 0;
    save_metrics(checkpoint, name, metrics);
    save_metrics(checkpoint, name + " last", last);
  }

  void restore(const Checkpoint& checkpoint, const ModelParameters& tables, std::size_t model) {
    const std::string name = "best " + std::to_string(model);
    if (!checkpoint.tensors.contains(name)) return;
    table = tables.only(model);
    BET_CHECK(table.values.sizes() == checkpoint.tensor(name).sizes(),
              "checkpoint of another plan: ", name);
    table.values.copy_(checkpoint.tensor(name));
    if (table.weights.defined()) table.weights.copy_(checkpoint.tensor(name + " weights"));
    step = static_cast<std::uint64_t>(checkpoint.number(name + " step"));
    since = static_cast<std::uint32_t>(checkpoint.number(name + " since"));
    overfits = checkpoint.number(name + " overfits") != 0;
    metrics = read_metrics(checkpoint, name);
    last = read_metrics(checkpoint, name + " last");
  }
};

// Early stopping of several plans: each has its own best, and is no longer measured once its
// patience is over. A linear decay is not stopped.
class Convergence {
 public:
  Convergence(std::size_t num_plans, const Schedule& schedule)
      : schedule_(schedule), best_(num_plans), histories_(num_plans) {}

  bool is_over() const {
    return std::all_of(best_.begin(), best_.end(), [&](const Best& b) { return done(b); });
  }
  bool has_measured() const { return !histories_[0].empty() || best_[0].table.values.defined(); }

  void measure(Training& training, const Evaluator& evaluator, const TrainingHooks& hooks) {
    training.pause();
    ModelInTraining& model = training.model();
    const std::vector<double> losses = model.take_mean_losses();
    const Clock::time_point begin = Clock::now();
    const Ranking ranking = model.ranking();
    const std::uint64_t step = model.num_steps();
    for (std::size_t i = 0; i < best_.size(); ++i) {
      if (done(best_[i])) continue;
      const Metrics metrics = evaluator.measure(ranking.vectors, ranking.models[i]);
      BET_CHECK(metrics.num_users > 0, "no user has validation items to measure on");
      best_[i].offer(metrics, model.table(), i, step);
      histories_[i].push_back({step, losses[i], metrics});
      if (!hooks.log) continue;
      const std::string plan = best_.size() > 1 ? "plan " + std::to_string(i + 1) + "  " : "";
      hooks.log(plan + measurement_text(histories_[i].back()));
    }
    measure_seconds_ = seconds_between(begin, Clock::now());
  }

  // The best of all plans, for the progress line.
  std::string detail() const {
    if (!has_measured()) return "";
    const auto highest = std::max_element(
        best_.begin(), best_.end(),
        [](const Best& a, const Best& b) { return a.metrics.score() < b.metrics.score(); });
    char text[64];
    std::snprintf(text, sizeof(text), "best validation score %.4f at step %llu",
                  highest->metrics.score(), static_cast<unsigned long long>(highest->step));
    return text;
  }

  void save(Checkpoint& checkpoint) const {
    for (std::size_t i = 0; i < best_.size(); ++i) best_[i].save(checkpoint, i);
  }
  void restore(const Checkpoint& checkpoint, const ModelParameters& tables) {
    for (std::size_t i = 0; i < best_.size(); ++i) best_[i].restore(checkpoint, tables, i);
  }

  std::vector<TrainingResult> results(Training& training, bool stopped) && {
    // A linear decay is a whole: its result is what its end is.
    const bool takes_last = schedule_.linear && !stopped;
    const std::uint64_t steps = training.model().num_steps();
    std::vector<TrainingResult> results(best_.size());
    for (std::size_t i = 0; i < best_.size(); ++i) {
      const ModelParameters table = takes_last ? training.model().table().only(i) : best_[i].table;
      results[i].table = table.to(at::kCPU);
      results[i].steps = steps;
      results[i].best_length = takes_last ? steps : best_[i].step;
      results[i].validation = takes_last ? best_[i].last : best_[i].metrics;
      results[i].overfits = best_[i].overfits;
      results[i].stopped = stopped;
      results[i].history = std::move(histories_[i]);
      results[i].step_seconds = training.step_seconds();
      results[i].measure_seconds = measure_seconds_;
    }
    return results;
  }

 private:
  bool done(const Best& best) const {
    return !schedule_.linear && best.since >= schedule_.patience;
  }

  const Schedule& schedule_;
  std::vector<Best> best_;
  std::vector<std::vector<Measurement>> histories_;
  double measure_seconds_ = 0;
};

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes / 1'000'000) + " MB"; }

// Runs a training, and says in time and clearly if the device has not the memory for it.
template <typename Train>
std::vector<TrainingResult> with_memory_check(const Graph& graph, std::span<const SizePlan> plans,
                                              const ModelOptions& model, const Schedule& schedule,
                                              const Train& train) {
  Executor& executor = executor_for(graph.device());
  const std::uint64_t needed = training_bytes(graph, plans, model, schedule);
  const std::uint64_t free = executor.free_bytes();
  const auto refuse = [&](const std::string& why) {
    fail("out of memory on ", executor.name(), ": training takes about ", megabytes(needed), ", ",
         megabytes(free), " are free", why,
         "; what the run has saved is kept, and `bet resume` continues from it");
  };
  if (needed > free) refuse("");
  try {
    return train();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (text.find("out of memory") == std::string::npos) throw;
    refuse(" (" + text.substr(0, text.find('\n')) + ")");
    throw;
  }
}

std::vector<TrainingResult> converge(const Split& split, const Graph& graph,
                                     std::span<const SizePlan> plans, const ModelOptions& model,
                                     const Schedule& schedule, const TrainingHooks& hooks,
                                     const Checkpoint* state) {
  Training training(graph, plans, model, schedule, hooks);
  Convergence convergence(plans.size(), schedule);
  const Evaluator evaluator(split, HeldOut::kValidation, graph);
  if (state != nullptr) {
    restore(training.model(), *state);
    convergence.restore(*state, training.model().table());
  }
  const auto save = [&] {
    Checkpoint checkpoint = training.state();
    convergence.save(checkpoint);
    training.save(checkpoint);
  };
  bool stopped = false;
  while (training.model().num_steps() < schedule.max_steps && !convergence.is_over()) {
    leave_if_asked(hooks, hooks.save ? std::function<void()>(save) : nullptr);
    stopped = training.step();
    if (stopped) break;
    const bool measures = schedule.evaluates_at(training.model().num_steps());
    if (measures) convergence.measure(training, evaluator, hooks);
    training.report("train", schedule.max_steps, convergence.detail());
    if (training.save_is_due(measures)) save();
  }
  // Nothing measured yet, or steps behind the last measurement when there is no more to come.
  if (!convergence.has_measured() ||
      (!stopped && !schedule.evaluates_at(training.model().num_steps()))) {
    convergence.measure(training, evaluator, hooks);
  }
  training.pause();
  if (hooks.save) save();
  return std::move(convergence).results(training, stopped);
}

std::vector<TrainingResult> make_steps(const Graph& graph, std::span<const SizePlan> plans,
                                       const ModelOptions& model, const Schedule& schedule,
                                       const TrainingHooks& hooks, const Checkpoint* state) {
  Training training(graph, plans, model, schedule, hooks);
  bool stopped = false;
  if (state != nullptr) restore(training.model(), *state);
  const auto save = [&] { training.save(training.state()); };
  while (training.model().num_steps() < schedule.max_steps) {
    leave_if_asked(hooks, hooks.save ? std::function<void()>(save) : nullptr);
    stopped = training.step();
    if (stopped) break;
    training.report("final training", schedule.max_steps, "");
    if (training.save_is_due(false)) save();
  }
  training.pause();
  if (hooks.save) save();
  const std::vector<double> losses = training.model().take_mean_losses();
  std::vector<TrainingResult> results(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    results[i].table = training.model().table().only(i).to(at::kCPU);
    results[i].steps = results[i].best_length = training.model().num_steps();
    results[i].stopped = stopped;
    results[i].step_seconds = training.step_seconds();
    if (hooks.log) {
      hooks.log("final training: " + std::to_string(results[i].steps) + " steps, loss " +
                std::to_string(losses[i]));
    }
  }
  return results;
}

}  // namespace

void leave_if_asked(const TrainingHooks& hooks, const std::function<void()>& save) {
  if (!hooks.leave || !hooks.leave()) return;
  if (save) save();
  throw Interrupted("stopped before the end");
}

std::vector<TrainingResult> train_to_convergence(const Split& split, const Graph& graph,
                                                 std::span<const SizePlan> plans,
                                                 const ModelOptions& model,
                                                 const Schedule& schedule,
                                                 const TrainingHooks& hooks,
                                                 const Checkpoint* state) {
  return with_memory_check(graph, plans, model, schedule, [&] {
    if (!schedule.linear) return converge(split, graph, plans, model, schedule, hooks, state);
    const LengthTrials trials = {
        plans.size(),
        [&](std::span<const std::size_t> numbers, const Schedule& shorter,
            const TrainingHooks& round_hooks, const Checkpoint* round_state) {
          std::vector<SizePlan> chosen;
          for (const std::size_t number : numbers) chosen.push_back(plans[number]);
          return converge(split, graph, chosen, model, shorter, round_hooks, round_state);
        },
        [&](std::size_t number) {
          return make_backbone(model, graph)->initial(plans.subspan(number, 1), model.seed);
        }};
    return train_with_best_length(trials, schedule, hooks, state);
  });
}

std::vector<TrainingResult> train_steps(const Graph& graph, std::span<const SizePlan> plans,
                                        const ModelOptions& model, const Schedule& schedule,
                                        const TrainingHooks& hooks, const Checkpoint* state) {
  return with_memory_check(graph, plans, model, schedule,
                           [&] { return make_steps(graph, plans, model, schedule, hooks, state); });
}

}  // namespace bet
