#include "train/trainer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/stopwatch.h"
#include "train/evaluator.h"
#include "train/parameter_state.h"
#include "train/training_length.h"
#include "train/training_loop.h"

namespace bet {
namespace {

std::string measurement_text(const Measurement& m) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "step %llu  loss %.5f  validation %.5f  recall@20 %.5f  ndcg@20 %.5f",
                static_cast<unsigned long long>(m.step), m.loss, m.validation.score(),
                m.validation.recall[2], m.validation.ndcg[2]);
  return text;
}

// A plan's best weights so far.
struct Best {
  ModelParameters table;
  Metrics metrics;
  Metrics last;           // of the last measurement
  bool overfits = false;  // a measurement was clearly below an earlier one
  std::uint64_t step = 0;
  std::uint32_t evals_without_gain = 0;  // measurements since, none of them better

  // Takes the weights if they are strictly better.
  void offer(const Metrics& measured, const ModelParameters& tables, std::size_t model,
             std::uint64_t at_step) {
    // Falls of less are noise between measurements, on a few hundred users.
    constexpr double kClearly = 0.02;
    overfits = overfits || measured.score() < (1 - kClearly) * metrics.score();
    last = measured;
    if (table.values.defined() && measured.score() <= metrics.score()) {
      ++evals_without_gain;
      return;
    }
    table = tables.only(model);
    metrics = measured;
    step = at_step;
    evals_without_gain = 0;
  }

  void save(Checkpoint& checkpoint, std::size_t model) const {
    if (!table.values.defined()) return;
    const std::string name = name_of(model);
    save_parameters(checkpoint, name, table);
    checkpoint.numbers[name + " step"] = static_cast<double>(step);
    checkpoint.numbers[name + " since"] = evals_without_gain;
    checkpoint.numbers[name + " overfits"] = overfits ? 1 : 0;
    save_metrics(checkpoint, name, metrics);
    save_metrics(checkpoint, name + " last", last);
  }

  void restore(const Checkpoint& checkpoint, const ModelParameters& tables, std::size_t model) {
    const std::string name = name_of(model);
    if (!has_parameters(checkpoint, name)) return;
    table = tables.only(model);
    load_parameters(checkpoint, name, table);
    step = static_cast<std::uint64_t>(checkpoint.number(name + " step"));
    evals_without_gain = static_cast<std::uint32_t>(checkpoint.number(name + " since"));
    overfits = checkpoint.number(name + " overfits") != 0;
    metrics = read_metrics(checkpoint, name);
    last = read_metrics(checkpoint, name + " last");
  }

 private:
  static std::string name_of(std::size_t model) { return "best " + std::to_string(model); }
};

// The key of a plan's measurements in a checkpoint.
std::string curve_name(std::size_t plan) { return "plan " + std::to_string(plan); }

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

  void measure(ModelInTraining& model, const Evaluator& evaluator, const TrainingHooks& hooks) {
    const std::vector<double> losses = model.take_mean_losses();
    const Stopwatch watch;
    const Ranking ranking = model.ranking();
    const std::uint64_t step = model.num_steps();
    for (std::size_t i = 0; i < best_.size(); ++i) {
      if (done(best_[i])) continue;
      const Metrics metrics = evaluator.measure(ranking.vectors, ranking.models[i]);
      BET_CHECK(metrics.num_users > 0, "no user has validation items to measure on");
      best_[i].offer(metrics, model.table(), i, step);
      // A training that was killed after its last measurement makes it again.
      const bool again = !histories_[i].empty() && histories_[i].back().step == step;
      if (!again) histories_[i].push_back({step, losses[i], metrics});
      if (!hooks.log) continue;
      const std::string plan = best_.size() > 1 ? "plan " + std::to_string(i + 1) + "  " : "";
      hooks.log(plan + measurement_text(histories_[i].back()));
    }
    measure_seconds_ = watch.seconds();
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
    for (std::size_t i = 0; i < best_.size(); ++i) {
      best_[i].save(checkpoint, i);
      save_curve(checkpoint, curve_name(i), histories_[i]);
    }
  }
  void restore(const Checkpoint& checkpoint, const ModelParameters& tables) {
    for (std::size_t i = 0; i < best_.size(); ++i) {
      best_[i].restore(checkpoint, tables, i);
      histories_[i] = read_curve(checkpoint, curve_name(i));
    }
  }

  std::vector<TrainingResult> results(const ModelInTraining& model, double step_seconds,
                                      bool stopped) && {
    // A linear decay counts as a whole: its result is the model at its end.
    const bool takes_last = schedule_.linear && !stopped;
    const std::uint64_t steps = model.num_steps();
    std::vector<TrainingResult> results(best_.size());
    for (std::size_t i = 0; i < best_.size(); ++i) {
      const ModelParameters table = takes_last ? model.table().only(i) : best_[i].table;
      results[i].table = table.to(at::kCPU);
      results[i].steps = steps;
      results[i].best_length = takes_last ? steps : best_[i].step;
      results[i].validation = takes_last ? best_[i].last : best_[i].metrics;
      results[i].overfits = best_[i].overfits;
      results[i].stopped = stopped;
      results[i].history = std::move(histories_[i]);
      results[i].step_seconds = step_seconds;
      results[i].measure_seconds = measure_seconds_;
    }
    return results;
  }

 private:
  bool done(const Best& best) const {
    return !schedule_.linear && best.evals_without_gain >= schedule_.patience;
  }

  const Schedule& schedule_;
  std::vector<Best> best_;
  std::vector<std::vector<Measurement>> histories_;
  double measure_seconds_ = 0;
};

// The losses of plans that are trained side by side without measurements.
class LossCurves {
 public:
  explicit LossCurves(std::size_t num_plans) : curves_(num_plans) {}

  // The steps since the last point, unless there are none.
  void note(ModelInTraining& model) {
    const std::uint64_t noted = curves_[0].empty() ? 0 : curves_[0].back().step;
    if (model.num_steps() == noted) return;
    const std::vector<double> losses = model.take_mean_losses();
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      curves_[i].push_back({model.num_steps(), losses[i], {}});
    }
  }

  void save(Checkpoint& checkpoint) const {
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      save_curve(checkpoint, curve_name(i), curves_[i]);
    }
  }
  void restore(const Checkpoint& checkpoint) {
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      curves_[i] = read_curve(checkpoint, curve_name(i));
    }
  }

  std::vector<Measurement> take(std::size_t plan) { return std::move(curves_[plan]); }

 private:
  std::vector<std::vector<Measurement>> curves_;
};

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes / 1'000'000) + " MB"; }

// Runs a training; throws, naming the sizes, if the device has too little memory for it.
template <typename Train>
std::vector<TrainingResult> with_memory_check(const TrainingContext& context,
                                              std::span<const SizePlan> plans, const Train& train) {
  Executor& executor = executor_for(context.graph.device());
  const std::uint64_t needed =
      training_memory(context.graph, plans, context.model, context.schedule).least;
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

std::vector<TrainingResult> converge(const TrainingContext& context,
                                     std::span<const SizePlan> plans, const Checkpoint* state) {
  const Schedule& schedule = context.schedule;
  const TrainingHooks& hooks = context.hooks;
  ModelInTraining model(context.graph, plans, context.model, schedule);
  Convergence convergence(plans.size(), schedule);
  const Evaluator evaluator(context.split, HeldOut::kValidation, context.graph);
  if (state != nullptr) {
    model.restore(*state);
    convergence.restore(*state, model.table());
  }
  TrainingLoop loop(model, hooks,
                    {.num_steps = schedule.max_steps,
                     .phase = "train",
                     .is_over = [&] { return convergence.is_over(); },
                     .after_step =
                         [&] {
                           if (!schedule.evaluates_at(model.num_steps())) return false;
                           loop.pause();
                           convergence.measure(model, evaluator, hooks);
                           return true;
                         },
                     .detail = [&] { return convergence.detail(); },
                     .state =
                         [&] {
                           Checkpoint checkpoint = model.state();
                           convergence.save(checkpoint);
                           return checkpoint;
                         }});
  const bool stopped = !loop.run();
  loop.pause();
  // Nothing is measured yet, or steps were made after the last measurement and none will follow.
  if (!convergence.has_measured() || (!stopped && !schedule.evaluates_at(model.num_steps()))) {
    convergence.measure(model, evaluator, hooks);
  }
  loop.save();
  return std::move(convergence).results(model, loop.step_seconds(), stopped);
}

std::vector<TrainingResult> make_steps(const TrainingContext& context,
                                       std::span<const SizePlan> plans, const Checkpoint* state) {
  const TrainingHooks& hooks = context.hooks;
  ModelInTraining model(context.graph, plans, context.model, context.schedule);
  LossCurves curves(plans.size());
  if (state != nullptr) {
    model.restore(*state);
    curves.restore(*state);
  }
  const std::uint64_t num_steps = context.schedule.max_steps;
  // A point waits for the GPU: there are several of a training that is kept, and not of the many
  // short ones of a search.
  const std::uint64_t point_steps =
      hooks.save ? std::max<std::uint64_t>(1, num_steps / kLossPoints) : num_steps;
  TrainingLoop loop(model, hooks,
                    {.num_steps = num_steps,
                     .phase = "final training",
                     .after_step =
                         [&] {
                           if (model.num_steps() % point_steps == 0) curves.note(model);
                           return false;
                         },
                     .state =
                         [&] {
                           Checkpoint checkpoint = model.state();
                           curves.save(checkpoint);
                           return checkpoint;
                         }});
  const bool stopped = !loop.run();
  curves.note(model);
  loop.save();
  std::vector<TrainingResult> results(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    results[i].table = model.table().only(i).to(at::kCPU);
    results[i].steps = results[i].best_length = model.num_steps();
    results[i].stopped = stopped;
    results[i].step_seconds = loop.step_seconds();
    results[i].history = curves.take(i);
    if (hooks.log && !results[i].history.empty()) {
      hooks.log("final training: " + std::to_string(results[i].steps) + " steps, loss " +
                std::to_string(results[i].history.back().loss));
    }
  }
  return results;
}

// The rate of plans with so many parameters per row, as a multiple of the schedule's.
double rate_of_width(const BackboneKind& backbone, std::span<const SizePlan> plans) {
  double widest = 0;
  for (const SizePlan& plan : plans) {
    const auto rows = static_cast<double>(plan.shape().num_rows() * backbone.tables);
    widest = std::max(widest, static_cast<double>(plan.num_params()) / rows);
  }
  const double at_rate = backbone.fast.widest_at_rate;
  return at_rate > 0 && widest > at_rate ? std::sqrt(at_rate / widest) : 1;
}

}  // namespace

std::vector<TrainingResult> train_to_convergence(const TrainingContext& context,
                                                 std::span<const SizePlan> plans,
                                                 const Checkpoint* state, Rates rates) {
  return with_memory_check(context, plans, [&] {
    if (!context.schedule.linear) return converge(context, plans, state);
    LengthTrials trials = {
        plans.size(),
        [&](std::span<const std::size_t> indices, const Schedule& schedule,
            const TrainingHooks& hooks, const Checkpoint* trial_state) {
          std::vector<SizePlan> chosen;
          ModelOptions model = context.model;
          model.losses.clear();
          const std::vector<LossOptions> losses = context.model.losses_of(plans.size());
          for (const std::size_t index : indices) {
            chosen.push_back(plans[index]);
            model.losses.push_back(losses[index]);
          }
          if (model.temperature_steps > 0) {
            for (LossOptions& loss : model.losses) {
              loss = for_length(loss, model.temperature_steps, schedule.max_steps);
            }
          }
          return converge({context.split, context.graph, model, schedule, hooks}, chosen,
                          trial_state);
        },
        [&](std::size_t index) {
          return initial_parameters(context.model, context.graph, plans.subspan(index, 1));
        }};
    // The temperature of a softmax does what the rate does, and is chosen (train/loss_choice.h).
    trials.lower_rates =
        rates == Rates::kAny &&
        std::ranges::all_of(context.model.losses_of(plans.size()),
                            [](const LossOptions& loss) { return loss.kind == LossKind::kBpr; });
    const BackboneKind& backbone = find_backbone(context.model.backbone);
    trials.varies = !backbone.weights.empty();
    trials.far_rate = backbone.fast.far_rate;
    // A rate that was asked for is taken as it is.
    if (trials.lower_rates && context.schedule.learning_rate == backbone.fast.learning_rate) {
      trials.usual_rate = rate_of_width(backbone, plans);
    }
    return train_with_best_length(trials, context.schedule, context.hooks, state);
  });
}

std::vector<TrainingResult> train_steps(const TrainingContext& context,
                                        std::span<const SizePlan> plans, const Checkpoint* state) {
  return with_memory_check(context, plans, [&] { return make_steps(context, plans, state); });
}

}  // namespace bet
