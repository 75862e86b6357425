#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "bet/model.h"
#include "cli/commands.h"
#include "cli/fit_options.h"
#include "cli/model_evaluation.h"
#include "cli/report.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "runtime/facts.h"
#include "train/evaluator.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateCommand {
  std::string subject;  // a run folder or a model file
  std::string data;
  int threads = 0;
  std::string device = "cpu";
  bool json = false;
};

void check_data(const EvaluateCommand& command, bool is_same, const std::string& hash) {
  BET_CHECK(is_same, command.data, ": is not the data that ", command.subject,
            " was trained on (hash ", hash, ")");
}

// The trained weights of a run, before they were rounded for its file.
Metrics evaluate_run(const EvaluateCommand& command) {
  const RunFolder run = RunFolder::open(command.subject);
  FitCommand options = parse_fit_options(read_config(run.config()));
  options.data.path = command.data;
  const RetrainingOptions fit = options.resolve();
  BET_CHECK(fit.final_part != TrainingPart::kAll, command.subject,
            ": was trained on every interaction; nothing is held out to measure on");
  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  const FinalModel model = read_final_model(run.checkpoint(), options.shape_of(dataset));
  check_data(command, model.identity.starts_with(hash), hash);
  const at::Device device = find_device(command.device);
  const Graph graph = make_graph(split, fit.final_part).to(device);
  const Ranking ranking = make_backbone(fit.model, graph)->ranking(model.table.to(device));
  return evaluate(ranking.vectors, ranking.models[0], split, HeldOut::kTest, graph);
}

Metrics evaluate_file(const EvaluateCommand& command) {
  const Model model = Model::open(command.subject);
  Config entries;
  for (const auto& [name, fact] : model.facts()) {
    if (!name.starts_with("option.")) continue;
    entries.push_back({name.substr(7), text_fact(command.subject, name, fact)});
  }
  const Model::Fact* const hash_fact = model.fact("dataset.hash");
  BET_CHECK(hash_fact != nullptr && !entries.empty(), command.subject,
            ": does not say which data it was trained on");
  const std::string& trained_on = text_fact(command.subject, "dataset.hash", *hash_fact);
  entries.push_back({"data", command.data});
  const FitCommand options = parse_fit_options(entries);
  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  check_data(command, trained_on == hash, hash);
  return evaluate_model_file(model, dataset, split, options, find_device(command.device));
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("evaluate", "measure a run's final model, or a model file, on test");
  const auto options = std::make_shared<EvaluateCommand>();  // owned by the parser's callback
  command
      .add_option("RUN", options->subject,
                  "a run folder (its weights as trained), or a model file (as stored)")
      ->required();
  command.add_option("DATA", options->data, "the data it was trained on")->required();
  command.add_option("--threads", options->threads, "0: one per core")->capture_default_str();
  command.add_option("--device", options->device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    use_huge_page_tensors();
    set_num_threads(options->threads);
    const Metrics test = std::filesystem::is_directory(options->subject) ? evaluate_run(*options)
                                                                         : evaluate_file(*options);
    const Json json = {
        {"run", options->subject}, {"users", test.num_users}, {"test", metrics_json(test)}};
    if (options->json) {
      std::puts(json_text(json).c_str());
      return;
    }
    for (const auto& [name, value] : json["test"].items()) {
      std::printf("%-10s %.4f\n", name.c_str(), value.get<double>());
    }
  });
}

}  // namespace bet
