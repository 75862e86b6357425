#include "train/retraining.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/error.h"
#include "train/evaluator.h"

namespace bet {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What is known once the first phase is over, beside the state of the second.
void save_choice(Checkpoint& checkpoint, const RetrainingResult& result) {
  checkpoint.numbers["fit_train_steps"] = static_cast<double>(result.train_steps);
  checkpoint.numbers["fit_best_length"] = static_cast<double>(result.best_length);
  checkpoint.numbers["fit_chosen"] = static_cast<double>(result.chosen);
  checkpoint.numbers["retrain_plans"] = static_cast<double>(result.plan_validation.size());
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
  for (std::size_t plan = 0; plan < static_cast<std::size_t>(checkpoint.number("retrain_plans"));
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

// The sizes as a column of floats, which a checkpoint holds.
at::Tensor sizes_as_floats(const ModelParameters& table) {
  return table.sizes.to(at::kFloat).view({-1, 1});
}

Metrics test_metrics(const ModelParameters& table, const Split& split, const Graph& graph,
                     const RetrainingOptions& options) {
  if (options.final_part == TrainingPart::kAll) return {};
  const Ranking ranking = make_backbone(options.model, graph)->ranking(table.to(graph.device()));
  return evaluate(ranking.vectors, ranking.models[0], split, HeldOut::kTest, graph);
}

}  // namespace

bool has_retraining_state(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "state.ckpt");
}

void drop_retraining_state(const std::filesystem::path& folder) {
  std::filesystem::remove(folder / "state.ckpt");
}

RetrainingResult retrain_plans(const Split& split, std::span<const SizePlan> plans,
                               const RetrainingOptions& options, const TrainingHooks& hooks,
                               const std::filesystem::path& folder, const std::string& identity,
                               bool resume) {
  const std::filesystem::path state_path = folder / "state.ckpt";
  std::optional<Checkpoint> state;
  if (resume && has_retraining_state(folder)) {
    state = read_checkpoint(state_path);
    BET_CHECK(state->text("identity") == identity, state_path.string(),
              ": was written for other data or options");
  }
  RetrainingResult result;
  std::string phase = "train";
  TrainingHooks saving = hooks;
  saving.save = [&](const Checkpoint& checkpoint) {
    Checkpoint whole = checkpoint;
    whole.texts = {{"phase", phase}, {"identity", identity}};
    if (phase == "final") save_choice(whole, result);
    write_checkpoint(whole, state_path);
  };

  const bool in_final = state && state->text("phase") == "final";
  if (in_final) {
    restore_choice(*state, result);
  } else {
    const Stopwatch watch;
    const Graph graph = make_graph(split, TrainingPart::kTrain).to(options.device);
    const std::vector<TrainingResult> trained = train_to_convergence(
        split, graph, plans, options.model, options.schedule, saving, state ? &*state : nullptr);
    for (const TrainingResult& one : trained) result.plan_validation.push_back(one.validation);
    const auto best = std::max_element(trained.begin(), trained.end(),
                                       [](const TrainingResult& a, const TrainingResult& b) {
                                         return a.validation.score() < b.validation.score();
                                       });
    result.chosen = static_cast<std::size_t>(best - trained.begin());
    result.validation = best->validation;
    result.train_steps = best->steps;
    result.best_length = best->best_length;
    result.interrupted = best->stopped;
    result.table = best->table;
    result.train_seconds = watch.seconds();
    result.train_step_seconds = best->step_seconds;
    result.measure_seconds = best->measure_seconds;
  }

  const Stopwatch watch;
  const Graph graph = make_graph(split, options.final_part).to(options.device);
  if (options.final_part == TrainingPart::kTrain && !in_final) {
    result.final_steps = result.best_length;  // the chosen weights are the final ones
  } else {
    phase = "final";
    const Schedule schedule = options.schedule.final_schedule(
        result.best_length, interactions_of(split, TrainingPart::kTrain),
        interactions_of(split, options.final_part));
    const TrainingResult trained =
        train_steps(graph, plans.subspan(result.chosen, 1), options.model, schedule, saving,
                    in_final ? &*state : nullptr)[0];
    result.table = trained.table;
    result.final_step_seconds = trained.step_seconds;
    result.final_steps = trained.steps;
    result.interrupted = result.interrupted || trained.stopped;
  }
  result.test = test_metrics(result.table, split, graph, options);
  result.final_seconds = watch.seconds();

  Checkpoint final_model;
  final_model.texts = {{"identity", identity}};
  final_model.tensors = {{"table", result.table.values}, {"sizes", sizes_as_floats(result.table)}};
  if (result.table.weights.defined()) final_model.tensors["weights"] = result.table.weights;
  if (result.table.kept.defined()) final_model.tensors["kept"] = result.table.kept;
  write_checkpoint(final_model, folder / "final.ckpt");
  std::filesystem::remove(state_path);
  return result;
}

FinalModel read_final_model(const std::filesystem::path& folder, const TableShape& shape) {
  const std::filesystem::path path = folder / "final.ckpt";
  const Checkpoint checkpoint = read_checkpoint(path);
  FinalModel model;
  model.identity = checkpoint.text("identity");
  model.table.values = checkpoint.tensor("table");
  model.table.sizes = checkpoint.tensor("sizes").view({1, -1}).to(at::kShort);
  if (checkpoint.tensors.contains("weights")) model.table.weights = checkpoint.tensor("weights");
  if (checkpoint.tensors.contains("kept")) model.table.kept = checkpoint.tensor("kept");
  BET_CHECK(model.table.num_rows() == static_cast<std::int64_t>(shape.num_rows()) &&
                model.table.sizes.size(1) == model.table.num_rows(),
            path.string(), ": a model of ", model.table.num_rows(), " users and items for data of ",
            shape.num_rows());
  model.table.models = {
      {0, static_cast<std::uint32_t>(model.table.sizes.max().item<std::int16_t>())}};
  return model;
}

}  // namespace bet
