#include "train/retraining.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/precision_text.h"
#include "base/stopwatch.h"
#include "train/denser_fold.h"
#include "train/final_comparison.h"
#include "train/joined_checkpoint.h"
#include "train/parameter_state.h"

namespace bet {
namespace {

std::string final_score_name(std::size_t plan) {
  return "fit " + std::to_string(plan) + " final score";
}

// The results of the first phase, saved with the state of the second.
void save_choice(Checkpoint& checkpoint, const RetrainingResult& result) {
  checkpoint.numbers["fit_train_steps"] = static_cast<double>(result.train_steps);
  checkpoint.numbers["fit_best_length"] = static_cast<double>(result.best_length);
  checkpoint.numbers["fit_final_length"] = static_cast<double>(result.final_length);
  checkpoint.numbers["fit_chosen"] = static_cast<double>(result.chosen);
  checkpoint.numbers["fit_plans"] = static_cast<double>(result.plan_validation.size());
  checkpoint.numbers["fit_interrupted"] = result.interrupted ? 1 : 0;
  for (std::size_t plan = 0; plan < result.plan_validation.size(); ++plan) {
    save_metrics(checkpoint, "fit " + std::to_string(plan), result.plan_validation[plan]);
  }
  for (std::size_t plan = 0; plan < result.final_scores.size(); ++plan) {
    checkpoint.numbers[final_score_name(plan)] = result.final_scores[plan];
  }
  save_loss(checkpoint, result.loss);
  save_curve(checkpoint, "fit", result.train_curve);
}

void restore_choice(const Checkpoint& checkpoint, RetrainingResult& result) {
  result.train_steps = static_cast<std::uint64_t>(checkpoint.number("fit_train_steps"));
  result.best_length = static_cast<std::uint64_t>(checkpoint.number("fit_best_length"));
  // States of earlier versions have none.
  if (checkpoint.numbers.contains("fit_final_length")) {
    result.final_length = static_cast<std::uint64_t>(checkpoint.number("fit_final_length"));
  }
  result.chosen = static_cast<std::size_t>(checkpoint.number("fit_chosen"));
  result.interrupted = checkpoint.number("fit_interrupted") != 0;
  for (std::size_t plan = 0; plan < static_cast<std::size_t>(checkpoint.number("fit_plans"));
       ++plan) {
    result.plan_validation.push_back(read_metrics(checkpoint, "fit " + std::to_string(plan)));
    if (checkpoint.numbers.contains(final_score_name(plan))) {
      result.final_scores.push_back(checkpoint.number(final_score_name(plan)));
    }
  }
  result.validation = result.plan_validation.at(result.chosen);
  result.loss = load_loss(checkpoint);
  result.train_curve = read_curve(checkpoint, "fit");
}

std::uint64_t interactions_of(const Split& split, TrainingPart part) {
  const Split::Counts counts = split.counts();
  std::uint64_t total = counts.train;
  if (part != TrainingPart::kTrain) total += counts.validation;
  if (part == TrainingPart::kAll) total += counts.test;
  return total;
}

// The sizes of a plan, its mask and its precision, as a short text.
std::string fingerprint(const SizePlan& plan) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  const auto add = [&](const auto& values) {
    XXH3_64bits_update(&state, values.data(), values.size_bytes());
  };
  add(plan.user_sizes());
  add(plan.item_sizes());
  add(plan.mask());
  std::string text = std::to_string(XXH3_64bits_digest(&state));
  // Losses that were remembered before there were others are those of fp32.
  if (plan.precision() != TablePrecision()) text += " " + precision_text(plan.precision());
  if (plan.form() != StoredForm::kTable) text += " " + std::string(form_name(plan.form()));
  return text;
}

class Retraining {
 public:
  Retraining(const TrainingContext& context, TrainingPart final_part,
             std::span<const SizePlan> plans, const RetrainingFolder& folder,
             const LossSearch& loss, PlanChoice choice)
      : context_(context),
        final_part_(final_part),
        plans_(plans),
        folder_(folder),
        loss_(loss),
        choice_(choice),
        comparison_(context, final_part),
        ranks_(context.model.ranks),
        state_(folder.state()),
        saving_(context.hooks) {
    if (ranks_ != nullptr) {
      BET_CHECK(!loss.choose, "a table over ", ranks_->size(),
                " ranks: --loss auto compares trainings side by side; name one");
      BET_CHECK(plans.size() == 1, "a table over ", ranks_->size(), " ranks: ", plans.size(),
                " plans to choose from; there can be one");
      state_.ranks = ranks_;
      state_.width = plans[0].width();
    }
    saving_.save = [this](Checkpoint checkpoint) {
      checkpoint.texts["phase"] = phase_;
      if (phase_ != kTrain) save_choice(checkpoint, result_);
      state_.write(std::move(checkpoint));
    };
  }

  RetrainingResult run() {
    std::optional<Checkpoint> state;
    if (folder_.resume) state = state_.read();
    const std::string phase = state ? state->text("phase") : kTrain;
    const bool in_final = phase == kFinal;
    if (phase == kTrain) {
      choose_plan(state ? &*state : nullptr);
    } else {
      restore_choice(*state, result_);
      if (result_.final_length == 0)
        set_final(final_training(result_.loss, result_.best_length, 1));  // of an earlier version
    }
    // A training that was stopped is to be finished soon.
    const bool finds_loss = loss_.choose && !loss_.known;
    if (finds_loss && !in_final && !result_.interrupted) find_loss();
    finish(in_final ? &*state : nullptr);
    if (ranks_ != nullptr) {
      result_.table = joined_parameters(result_.table, plans_[result_.chosen], *ranks_);
    }
    if (ranks_ == nullptr || ranks_->rank() == 0) write_final_model();
    return std::move(result_);
  }

 private:
  static constexpr const char* kTrain = "train";
  static constexpr const char* kLoss = "loss";
  static constexpr const char* kFinal = "final";

  void write_final_model() const {
    Checkpoint final_model;
    save_model(final_model, result_.table);
    save_loss(final_model, result_.loss);
    folder_.final_model().write(std::move(final_model));
  }

  // The model's options with these losses.
  ModelOptions with_losses(std::vector<LossOptions> losses) const {
    ModelOptions options = context_.model;
    options.losses = std::move(losses);
    return options;
  }

  void choose_plan(const Checkpoint* state) {
    const Stopwatch watch;
    std::vector<LossOptions> losses = context_.model.losses_of(plans_.size());
    for (std::size_t plan = 0; loss_.choose && plan < plans_.size(); ++plan) {
      losses[plan] = loss_.known ? loss_.known->loss
                                 : usual_loss(plans_[plan], find_backbone(context_.model.backbone),
                                              whole_length());
    }
    const std::vector<TrainingResult> trained = train_plans(losses, state);
    for (const TrainingResult& one : trained) result_.plan_validation.push_back(one.validation);
    result_.interrupted = trained[0].stopped;
    // Who asked for an end is not kept waiting for a comparison.
    if (compares_at_final_density() && !result_.interrupted) {
      result_.final_scores = scores_of_plans(trained, losses);
      result_.interrupted = result_.final_scores.empty();
    }
    result_.chosen = chosen_plan();
    const TrainingResult* const best = &trained[result_.chosen];
    result_.validation = best->validation;
    result_.train_steps = best->steps;
    result_.best_length = best->best_length;
    set_final(final_training(losses[result_.chosen], best->best_length, best->best_rate));
    if (loss_.choose) {
      result_.loss = for_length(result_.loss, whole_length(), result_.final_length);
    }
    result_.table = best->table;
    result_.train_curve = best->history;
    result_.train_seconds = watch.seconds();
    result_.train_step_seconds = best->step_seconds;
    result_.measure_seconds = best->measure_seconds;
  }

  std::size_t chosen_plan() const {
    const std::vector<double>& final_scores = result_.final_scores;
    if (final_scores.empty()) {
      const auto best = std::ranges::max_element(result_.plan_validation, {}, &Metrics::score);
      return static_cast<std::size_t>(best - result_.plan_validation.begin());
    }
    const auto best = std::ranges::max_element(final_scores);
    return comparison_.is_clearly_better(*best, final_scores.back())
               ? static_cast<std::size_t>(best - final_scores.begin())
               : final_scores.size() - 1;
  }

  std::vector<TrainingResult> train_plans(const std::vector<LossOptions>& losses,
                                          const Checkpoint* state) const {
    ModelOptions options = with_losses(losses);
    const bool whole = loss_.known && loss_.known->whole_length;
    if (loss_.choose && !whole) options.temperature_steps = whole_length();
    TrainingHooks hooks = saving_;
    if (saving_.progress) {
      // A training of fixed steps is else the final one.
      hooks.progress = [this](Progress progress) {
        progress.phase = "train";
        if (compares_at_final_density()) progress.total += comparison_steps();
        saving_.progress(progress);
      };
    }
    const TrainingContext context = {context_.split, context_.graph, options, context_.schedule,
                                     hooks};
    if (!whole) return train_to_convergence(context, plans_, state);
    std::vector<TrainingResult> trained = train_steps(context, plans_, state);
    const auto backbone = make_backbone(options, context_.graph);
    const Evaluator evaluator(context_.split, HeldOut::kValidation, context_.graph);
    for (TrainingResult& one : trained) {
      const Stopwatch watch;
      const Ranking ranking = backbone->ranking(one.table.to(context_.graph.device()));
      one.validation = evaluator.measure(ranking.vectors, ranking.models[0]);
      one.measure_seconds = watch.seconds();
      if (!one.history.empty()) one.history.back().validation = one.validation;
    }
    return trained;
  }

  bool compares_at_final_density() const {
    return choice_ == PlanChoice::kAtFinalDensity && plans_.size() > 1 &&
           final_part_ != TrainingPart::kTrain;
  }

  // At most.
  double comparison_steps() const {
    return static_cast<double>(comparison_.num_folds() * plans_.size() * whole_length());
  }

  std::vector<double> scores_of_plans(std::span<const TrainingResult> trained,
                                      std::span<const LossOptions> losses) const {
    std::vector<FinalCandidate> candidates;
    for (std::size_t plan = 0; plan < plans_.size(); ++plan) {
      const TrainingResult& one = trained[plan];
      candidates.push_back(
          {&plans_[plan], final_training(losses[plan], one.best_length, one.best_rate)});
    }
    const auto before = static_cast<double>(trained[0].steps);
    return comparison_.scores(candidates, [&](double part) {
      context_.hooks.progress(
          {kTrain, before + part * comparison_steps(), before + comparison_steps(), ""});
    });
  }

  // The loss of the chosen plan, on as many interactions as the final training has.
  void find_loss() {
    phase_ = kLoss;
    saving_.save({});
    const Stopwatch watch;
    const SizePlan& plan = plans_[result_.chosen];
    StateFile cache;
    if (!loss_.cache.empty()) {
      cache = cached_state(loss_.cache, "loss",
                           str_cat(loss_.identity, "\nsteps = ", result_.final_length,
                                   "\nplan = ", fingerprint(plan)));
    }
    if (const std::optional<KnownTraining> known = remembered_training(cache, context_.hooks)) {
      result_.best_length = known->best_length;
      set_final(known->training);
    } else {
      choose_loss_of(plan);
      if (!result_.interrupted) {
        remember_training({{result_.loss, result_.final_length}, result_.best_length}, cache,
                          context_.hooks);
      }
    }
    result_.train_seconds += watch.seconds();
    if (context_.hooks.log) {
      context_.hooks.log(
          str_cat("loss: ", loss_text(result_.loss), ", ", result_.final_length, " steps"));
    }
  }

  LossChoice try_losses(const SizePlan& plan) const {
    const DenserFold data(context_, final_part_, 0);
    return choose_loss(
        {data.split(), data.graph(), data.model(), context_.schedule, context_.hooks}, plan,
        result_.final_length);
  }

  void choose_loss_of(const SizePlan& plan) {
    LossChoice choice = try_losses(plan);
    result_.interrupted = result_.interrupted || choice.stopped;
    result_.loss_trials = std::move(choice.trials);
    if (choice.nearly_bpr && !choice.stopped) {
      compare_with_bpr(plan, choice.chosen);
    } else if (choice.chosen.loss.kind == LossKind::kBpr) {
      set_final_by_bpr(plan, kTrainingsByBpr);
    } else {
      set_final(choice.chosen);
    }
  }

  // Takes BPR unless the softmax that was chosen is better by more than noise, both trained as
  // finally: the trials do not know how much BPR gains from its own length and rate.
  void compare_with_bpr(const SizePlan& plan, const LossOfLength& softmax) {
    const std::uint64_t best_length = result_.best_length;
    const double comparisons = 2.0 * comparison_.num_folds();
    const double following = kTrainingsByBpr + comparisons;
    set_final_by_bpr(plan, following);
    std::vector<double> scores;
    if (!result_.interrupted) {
      const FinalCandidate candidates[] = {{&plan, softmax},
                                           {&plan, {result_.loss, result_.final_length}}};
      scores = comparison_.scores(candidates, [&](double part) {
        follow_choice(kTrainingsByBpr + part * comparisons, following);
      });
    }
    if (scores.empty()) {  // the softmax is ahead as far as is known
      result_.interrupted = true;
      result_.best_length = best_length;
      set_final(softmax);
      return;
    }
    if (context_.hooks.log) {
      context_.hooks.log(str_cat("loss ", loss_text(softmax.loss),
                                 " and bpr, trained as finally: ", "validation scores ",
                                 score_text(scores[0]), " and ", score_text(scores[1])));
    }
    if (!comparison_.is_clearly_better(scores[0], scores[1])) return;
    result_.best_length = best_length;
    set_final(softmax);
  }

  // The work of finding length and rate by BPR, in whole trainings.
  static constexpr double kTrainingsByBpr = 1.2;

  // Reports how many of the trainings are done that follow the trials of losses.
  void follow_choice(double done, double following) const {
    context_.hooks.progress({kLoss, kChoiceTrainings + done, kChoiceTrainings + following, ""});
  }

  // Length and rate of a final training by BPR, found as `--loss bpr` finds them: the third of
  // validation by which losses are compared tells them less well than all of it. It is the first of
  // `following` trainings.
  void set_final_by_bpr(const SizePlan& plan, double following) {
    TrainingHooks hooks = context_.hooks;
    hooks.save = nullptr;
    if (hooks.progress) {
      hooks.progress = [this, following](const Progress& progress) {
        follow_choice(kTrainingsByBpr * std::min(progress.done / progress.total, 1.0), following);
      };
    }
    const LossOptions bpr;
    const TrainingResult trained = train_to_convergence(
        {context_.split, context_.graph, with_losses({bpr}), context_.schedule, hooks},
        std::span(&plan, 1), nullptr)[0];
    result_.interrupted = result_.interrupted || trained.stopped;
    result_.best_length = trained.best_length;
    set_final(final_training(bpr, trained.best_length, trained.best_rate));
  }

  // As many passes over the data, or steps, as were best on train, and the rate that goes with
  // them. Dense weights bear no higher rate.
  LossOfLength final_training(LossOptions loss, std::uint64_t best_length, double best_rate) const {
    const bool bears = find_backbone(context_.model.backbone).weights.empty();
    const Schedule schedule =
        context_.schedule.final_schedule(best_length, loss.rate * best_rate, bears,
                                         interactions_of(context_.split, TrainingPart::kTrain),
                                         interactions_of(context_.split, final_part_));
    loss.rate = schedule.learning_rate / context_.schedule.learning_rate;
    return {loss, schedule.max_steps};
  }

  void set_final(const LossOfLength& final) {
    result_.loss = final.loss;
    result_.final_length = final.length;
  }

  std::uint64_t whole_length() const { return context_.schedule.max_steps; }

  // The final training, from its own state if there is one, and its measurement on test.
  void finish(const Checkpoint* state) {
    const Stopwatch watch;
    const bool same_data = final_part_ == TrainingPart::kTrain;
    const Graph graph = same_data
                            ? context_.graph
                            : make_graph(context_.split, final_part_).to(context_.graph.device());
    if (same_data && state == nullptr && !loss_.choose) {
      result_.final_steps = result_.best_length;  // the chosen weights are the final ones
    } else {
      train_final(graph, state);
    }
    result_.test = test_metrics(graph);
    result_.final_seconds = watch.seconds();
  }

  void train_final(const Graph& graph, const Checkpoint* state) {
    phase_ = kFinal;
    const Schedule schedule = context_.schedule.of_length(result_.final_length);
    const TrainingResult trained =
        train_steps({context_.split, graph, with_losses({result_.loss}), schedule, saving_},
                    plans_.subspan(result_.chosen, 1), state)[0];
    result_.table = trained.table;
    result_.final_curve = trained.history;
    result_.final_step_seconds = trained.step_seconds;
    result_.final_steps = trained.steps;
    result_.interrupted = result_.interrupted || trained.stopped;
  }

  Metrics test_metrics(const Graph& graph) const {
    if (final_part_ == TrainingPart::kAll) return {};
    const Ranking ranking = make_backbone(with_losses({result_.loss}), graph)
                                ->ranking(result_.table.to(graph.device()));
    return evaluate(ranking.vectors, ranking.models[0], context_.split, HeldOut::kTest, graph);
  }

  const TrainingContext& context_;
  TrainingPart final_part_;
  std::span<const SizePlan> plans_;
  const RetrainingFolder& folder_;
  const LossSearch& loss_;
  PlanChoice choice_;
  FinalComparison comparison_;
  RankGroup* ranks_;  // null: this process alone
  StateFile state_;
  TrainingHooks saving_;
  std::string phase_ = kTrain;
  RetrainingResult result_;
};

}  // namespace

RetrainingResult retrain_plans(const TrainingContext& context, TrainingPart final_part,
                               std::span<const SizePlan> plans, const RetrainingFolder& folder,
                               const LossSearch& loss, PlanChoice choice) {
  return Retraining(context, final_part, plans, folder, loss, choice).run();
}

FinalModel read_final_model(const std::filesystem::path& folder, const TableShape& shape) {
  const std::filesystem::path path = RetrainingFolder{folder, ""}.final_model().path;
  const Checkpoint checkpoint = read_checkpoint(path);
  FinalModel model{load_model(checkpoint), load_loss(checkpoint), checkpoint.text("identity")};
  BET_CHECK(model.table.num_rows() == static_cast<std::int64_t>(shape.num_rows()), path.string(),
            ": a model of ", model.table.num_rows(), " users and items for data of ",
            shape.num_rows());
  return model;
}

}  // namespace bet
