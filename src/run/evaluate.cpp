#include "run/evaluate.h"

#include <memory>

#include "base/error.h"
#include "bet/model.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "run/error_kinds.h"
#include "run/model_evaluation.h"
#include "run/model_facts.h"
#include "run/option_table.h"
#include "run/run_folder.h"
#include "runtime/load_model_file.h"
#include "train/evaluator.h"
#include "train/retraining.h"

namespace bet {
namespace {

void check_data(const EvaluationJob& job, bool is_same, const std::string& hash) {
  BET_CHECK(is_same, job.data, ": is not the data that ", job.subject.string(),
            " was trained on (hash ", hash, ")");
}

// The trained weights of a run, before they were rounded for its file.
Metrics evaluate_run(const EvaluationJob& job) {
  const RunFiles files = RunFolder::find(job.subject);
  FitOptions options = with_defaults(stored_options(read_config(files.config())));
  options.data.path = job.data;
  const RetrainingOptions training = retraining_options(options);
  BET_CHECK(training.final_part != TrainingPart::kAll, job.subject.string(),
            ": was trained on every interaction; nothing is held out to measure on");
  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  const FinalModel model =
      read_final_model(files.checkpoints().folder, table_shape(options, dataset));
  check_data(job, model.identity.starts_with(hash), hash);
  const at::Device device = find_device(job.device);
  const Graph graph = make_graph(split, training.final_part).to(device);
  ModelOptions trained = training.model;
  trained.losses = {model.loss};
  const Ranking ranking = make_backbone(trained, graph)->ranking(model.table.to(device));
  return evaluate(ranking.vectors, ranking.models[0], split, HeldOut::kTest, graph);
}

Metrics evaluate_file(const EvaluationJob& job) {
  // Not mapped: a file that is truncated meanwhile must not end the process.
  const std::shared_ptr<const Model> model = load_model_file(job.subject.string());
  const ModelFacts facts = read_model_facts(*model, job.subject.string());
  FitOptions options = facts.options;
  options.data.path = job.data;
  options = with_defaults(options);
  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  check_data(job, facts.data_hash == hash, hash);
  return evaluate_model_file(*model, dataset, split, options, find_device(job.device));
}

}  // namespace

Metrics evaluate_model(const EvaluationJob& job) {
  return with_error_kinds([&] {
    use_huge_page_tensors();
    set_num_threads(job.threads);
    return std::filesystem::is_directory(job.subject) ? evaluate_run(job) : evaluate_file(job);
  });
}

}  // namespace bet
