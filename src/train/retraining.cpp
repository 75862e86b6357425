#include "train/retraining.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/stopwatch.h"
#include "train/evaluator.h"
#include "train/parameter_state.h"

namespace bet {
namespace {

// The results of the first phase, saved with the state of the second.
void save_choice(Checkpoint& checkpoint, const RetrainingResult& result) {
  checkpoint.numbers["fit_train_steps"] = static_cast<double>(result.train_steps);
  checkpoint.numbers["fit_best_length"] = static_cast<double>(result.best_length);
  checkpoint.numbers["fit_chosen"] = static_cast<double>(result.chosen);
  checkpoint.numbers["fit_plans"] = static_cast<double>(result.plan_validation.size());
  checkpoint.numbers["fit_interrupted"] = result.interrupted ? 1 : 0;
  for (std::size_t plan = 0; plan < result.plan_validation.size(); ++plan) {
    save_metrics(checkpoint, "fit " + std::to_string(plan), result.plan_validation[plan]);
  }
}

void restore_choice(const Checkpoint& checkpoint, RetrainingResult& result) {
  result.train_steps = static_cast<std::uint64_t>(checkpoint.number("fit_train_steps"));
  result.best_length = static_cast<std::uint64_t>(checkpoint.number("fit_best_length"));
  result.chosen = static_cast<std::size_t>(checkpoint.number("fit_chosen"));
  result.interrupted = checkpoint.number("fit_interrupted") != 0;
  for (std::size_t plan = 0; plan < static_cast<std::size_t>(checkpoint.number("fit_plans"));
       ++plan) {
    result.plan_validation.push_back(read_metrics(checkpoint, "fit " + std::to_string(plan)));
  }
  result.validation = result.plan_validation.at(result.chosen);
}

std::uint64_t interactions_of(const Split& split, TrainingPart part) {
  const Split::Counts counts = split.counts();
  std::uint64_t total = counts.train;
  if (part != TrainingPart::kTrain) total += counts.validation;
  if (part == TrainingPart::kAll) total += counts.test;
  return total;
}

class Retraining {
 public:
  Retraining(const TrainingContext& context, TrainingPart final_part,
             std::span<const SizePlan> plans, const RetrainingFolder& folder)
      : context_(context),
        final_part_(final_part),
        plans_(plans),
        folder_(folder),
        saving_(context.hooks) {
    saving_.save = [this](Checkpoint checkpoint) {
      checkpoint.texts["phase"] = phase_;
      if (phase_ == kFinal) save_choice(checkpoint, result_);
      folder_.state().write(std::move(checkpoint));
    };
  }

  RetrainingResult run() {
    std::optional<Checkpoint> state;
    if (folder_.resume) state = folder_.state().read();
    const bool in_final = state && state->text("phase") == kFinal;
    if (in_final) {
      restore_choice(*state, result_);
    } else {
      choose_plan(state ? &*state : nullptr);
    }
    finish(in_final ? &*state : nullptr);
    Checkpoint final_model;
    save_model(final_model, result_.table);
    folder_.final_model().write(std::move(final_model));
    folder_.state().remove();
    return std::move(result_);
  }

 private:
  static constexpr const char* kFinal = "final";

  void choose_plan(const Checkpoint* state) {
    const Stopwatch watch;
    const std::vector<TrainingResult> trained = train_to_convergence(
        {context_.split, context_.graph, context_.model, context_.schedule, saving_}, plans_,
        state);
    for (const TrainingResult& one : trained) result_.plan_validation.push_back(one.validation);
    const auto best = std::max_element(trained.begin(), trained.end(),
                                       [](const TrainingResult& a, const TrainingResult& b) {
                                         return a.validation.score() < b.validation.score();
                                       });
    result_.chosen = static_cast<std::size_t>(best - trained.begin());
    result_.validation = best->validation;
    result_.train_steps = best->steps;
    result_.best_length = best->best_length;
    result_.interrupted = best->stopped;
    result_.table = best->table;
    result_.train_seconds = watch.seconds();
    result_.train_step_seconds = best->step_seconds;
    result_.measure_seconds = best->measure_seconds;
  }

  // The final training, from its own state if there is one, and its measurement on test.
  void finish(const Checkpoint* state) {
    const Stopwatch watch;
    const bool same_data = final_part_ == TrainingPart::kTrain;
    const Graph graph = same_data
                            ? context_.graph
                            : make_graph(context_.split, final_part_).to(context_.graph.device());
    if (same_data && state == nullptr) {
      result_.final_steps = result_.best_length;  // the chosen weights are the final ones
    } else {
      train_final(graph, state);
    }
    result_.test = test_metrics(graph);
    result_.final_seconds = watch.seconds();
  }

  void train_final(const Graph& graph, const Checkpoint* state) {
    phase_ = kFinal;
    const Schedule schedule = context_.schedule.final_schedule(
        result_.best_length, interactions_of(context_.split, TrainingPart::kTrain),
        interactions_of(context_.split, final_part_));
    const TrainingResult trained =
        train_steps({context_.split, graph, context_.model, schedule, saving_},
                    plans_.subspan(result_.chosen, 1), state)[0];
    result_.table = trained.table;
    result_.final_step_seconds = trained.step_seconds;
    result_.final_steps = trained.steps;
    result_.interrupted = result_.interrupted || trained.stopped;
  }

  Metrics test_metrics(const Graph& graph) const {
    if (final_part_ == TrainingPart::kAll) return {};
    const Ranking ranking =
        make_backbone(context_.model, graph)->ranking(result_.table.to(graph.device()));
    return evaluate(ranking.vectors, ranking.models[0], context_.split, HeldOut::kTest, graph);
  }

  const TrainingContext& context_;
  TrainingPart final_part_;
  std::span<const SizePlan> plans_;
  const RetrainingFolder& folder_;
  TrainingHooks saving_;
  std::string phase_ = "train";
  RetrainingResult result_;
};

}  // namespace

RetrainingResult retrain_plans(const TrainingContext& context, TrainingPart final_part,
                               std::span<const SizePlan> plans, const RetrainingFolder& folder) {
  return Retraining(context, final_part, plans, folder).run();
}

FinalModel read_final_model(const std::filesystem::path& folder, const TableShape& shape) {
  const std::filesystem::path path = RetrainingFolder{folder, ""}.final_model().path;
  const Checkpoint checkpoint = read_checkpoint(path);
  FinalModel model{load_model(checkpoint), checkpoint.text("identity")};
  BET_CHECK(model.table.num_rows() == static_cast<std::int64_t>(shape.num_rows()), path.string(),
            ": a model of ", model.table.num_rows(), " users and items for data of ",
            shape.num_rows());
  return model;
}

}  // namespace bet
