#include "train/trainer.h"

#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "train/evaluator.h"

namespace bet {
namespace {

using Clock = std::chrono::steady_clock;

std::string measurement_text(const Measurement& m) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "step %llu  loss %.5f  validation %.5f  recall@20 %.5f  ndcg@20 %.5f",
                static_cast<unsigned long long>(m.step), m.loss, m.validation.score(),
                m.validation.recall[2], m.validation.ndcg[2]);
  return text;
}

// A training under way: the model and what the loop over its steps must remember.
class Training {
 public:
  Training(const Graph& graph, const SizePlan& plan, const ModelOptions& options,
           const Schedule& schedule, const TrainingHooks& hooks)
      : hooks_(hooks), model_(graph, plan, options, schedule), last_saved_(Clock::now()) {}

  // True if the caller asked to stop instead of a step.
  bool step() {
    if (hooks_.stop && hooks_.stop()) return true;
    loss_sum_ += model_.step();
    ++loss_count_;
    return false;
  }

  void report(const char* phase, std::uint64_t last_step, const std::string& detail) const {
    if (!hooks_.progress) return;
    hooks_.progress(
        {phase, static_cast<double>(model_.num_steps()), static_cast<double>(last_step), detail});
  }

  double take_mean_loss() {
    const double mean = loss_count_ > 0 ? loss_sum_ / static_cast<double>(loss_count_) : 0.0;
    loss_sum_ = 0;
    loss_count_ = 0;
    return mean;
  }

  Checkpoint state() {
    Checkpoint checkpoint;
    checkpoint.numbers = {{"step", static_cast<double>(model_.num_steps())},
                          {"loss_sum", loss_sum_},
                          {"loss_count", static_cast<double>(loss_count_)}};
    checkpoint.tensors = {{"table", model_.table().values.detach()},
                          {"moment1", model_.adam().moment1()},
                          {"moment2", model_.adam().moment2()}};
    return checkpoint;
  }

  void restore(const Checkpoint& checkpoint) {
    const auto copy = [&](const at::Tensor& to, const char* name) {
      const at::Tensor& from = checkpoint.tensor(name);
      BET_CHECK(from.sizes() == to.sizes(), "checkpoint of another plan: ", name, " has ",
                from.size(0), " x ", from.size(1), " values, not ", to.size(0), " x ", to.size(1));
      to.copy_(from);
    };
    copy(model_.table().values.detach(), "table");
    copy(model_.adam().moment1(), "moment1");
    copy(model_.adam().moment2(), "moment2");
    model_.adam().set_num_steps(static_cast<std::int64_t>(checkpoint.number("step")));
    loss_sum_ = checkpoint.number("loss_sum");
    loss_count_ = static_cast<std::uint64_t>(checkpoint.number("loss_count"));
  }

  // Whether it is time to save again.
  bool save_is_due() {
    const std::chrono::duration<double> since = Clock::now() - last_saved_;
    if (!hooks_.save || since.count() < hooks_.save_seconds) return false;
    last_saved_ = Clock::now();
    return true;
  }

  ModelInTraining& model() { return model_; }

 private:
  const TrainingHooks& hooks_;
  ModelInTraining model_;
  double loss_sum_ = 0;
  std::uint64_t loss_count_ = 0;
  Clock::time_point last_saved_;
};

// The best weights so far and how long ago they were.
struct Best {
  at::Tensor values;
  Metrics metrics;
  std::uint64_t step = 0;
  std::uint32_t since = 0;  // measurements without a better one

  // Strictly better measurements are kept.
  void offer(const Metrics& measured, const MaskedTable& table, std::uint64_t at_step) {
    if (values.defined() && measured.score() <= metrics.score()) {
      ++since;
      return;
    }
    values = table.values.detach().clone();
    metrics = measured;
    step = at_step;
    since = 0;
  }

  void save(Checkpoint& checkpoint) const {
    if (!values.defined()) return;
    checkpoint.tensors["best"] = values;
    checkpoint.numbers["best_step"] = static_cast<double>(step);
    checkpoint.numbers["best_since"] = since;
    checkpoint.numbers["best_users"] = static_cast<double>(metrics.num_users);
    for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
      checkpoint.numbers["best_recall@" + std::to_string(kCutoffs[i])] = metrics.recall[i];
      checkpoint.numbers["best_ndcg@" + std::to_string(kCutoffs[i])] = metrics.ndcg[i];
    }
  }

  void restore(const Checkpoint& checkpoint) {
    if (!checkpoint.tensors.contains("best")) return;
    values = checkpoint.tensor("best");
    step = static_cast<std::uint64_t>(checkpoint.number("best_step"));
    since = static_cast<std::uint32_t>(checkpoint.number("best_since"));
    metrics.num_users = static_cast<std::uint64_t>(checkpoint.number("best_users"));
    for (std::size_t i = 0; i < kCutoffs.size(); ++i) {
      metrics.recall[i] = checkpoint.number("best_recall@" + std::to_string(kCutoffs[i]));
      metrics.ndcg[i] = checkpoint.number("best_ndcg@" + std::to_string(kCutoffs[i]));
    }
  }
};

}  // namespace

TrainingResult train_to_convergence(const Split& split, const Graph& graph, const SizePlan& plan,
                                    const ModelOptions& model, const Schedule& schedule,
                                    const TrainingHooks& hooks, const Checkpoint* state) {
  Training training(graph, plan, model, schedule, hooks);
  Best best;
  TrainingResult result;
  if (state != nullptr) {
    training.restore(*state);
    best.restore(*state);
  }
  const auto save = [&] {
    Checkpoint checkpoint = training.state();
    best.save(checkpoint);
    hooks.save(checkpoint);
  };
  const auto measure = [&] {
    const std::uint64_t step = training.model().num_steps();
    const Metrics metrics = evaluate(training.model().vectors(), training.model().table().width,
                                     split, HeldOut::kValidation, graph);
    BET_CHECK(metrics.num_users > 0, "no user has validation items to measure on");
    best.offer(metrics, training.model().table(), step);
    result.history.push_back({step, training.take_mean_loss(), metrics});
    if (hooks.log) hooks.log(measurement_text(result.history.back()));
  };
  std::string detail;
  while (training.model().num_steps() < schedule.max_steps && best.since < schedule.patience) {
    result.stopped = training.step();
    if (result.stopped) break;
    if (schedule.measures_after(training.model().num_steps())) {
      measure();
      char text[48];
      std::snprintf(text, sizeof(text), "best %.5f at step %llu", best.metrics.score(),
                    static_cast<unsigned long long>(best.step));
      detail = text;
      if (hooks.save) save();
    }
    training.report("train", schedule.max_steps, detail);
    if (training.save_is_due()) save();
  }
  // Nothing measured yet, or steps behind the last measurement when there is no more to come.
  if (!best.values.defined() ||
      (!result.stopped && !schedule.measures_after(training.model().num_steps()))) {
    measure();
  }
  if (hooks.save) save();
  result.table = training.model().table();
  result.table.values = best.values;
  result.steps = training.model().num_steps();
  result.best_step = best.step;
  result.validation = best.metrics;
  return result;
}

TrainingResult train_steps(const Graph& graph, const SizePlan& plan, const ModelOptions& model,
                           const Schedule& schedule, std::uint64_t num_steps,
                           const TrainingHooks& hooks, const Checkpoint* state) {
  Training training(graph, plan, model, schedule, hooks);
  TrainingResult result;
  if (state != nullptr) training.restore(*state);
  while (training.model().num_steps() < num_steps) {
    result.stopped = training.step();
    if (result.stopped) break;
    training.report("final training", num_steps, "");
    if (training.save_is_due()) hooks.save(training.state());
  }
  if (hooks.save) hooks.save(training.state());
  if (hooks.log) {
    hooks.log("final training: " + std::to_string(training.model().num_steps()) + " steps, loss " +
              std::to_string(training.take_mean_loss()));
  }
  result.table = training.model().table();
  result.table.values = training.model().table().values.detach();
  result.steps = result.best_step = training.model().num_steps();
  return result;
}

}  // namespace bet
