#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/fit_options.h"
#include "cli/report.h"
#include "model/executor.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "train/evaluator.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateCommand {
  std::string run;
  std::string data;
  int threads = 0;
  std::string device = "cpu";
  bool json = false;
};

// The options that a run was made with.
FitCommand options_of(const RunFolder& run) {
  CLI::App parser;
  FitCommand options;
  options.add_to(parser);
  std::vector<std::string> arguments;
  for (const ConfigEntry& entry : read_config(run.config())) {
    arguments.push_back(entry.key == "data" ? entry.value : "--" + entry.key + "=" + entry.value);
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  parser.parse(arguments);
  return options;
}

Json evaluate_run(const EvaluateCommand& command) {
  use_huge_page_tensors();
  set_num_threads(command.threads);
  const RunFolder run = RunFolder::open(command.run);
  FitCommand options = options_of(run);
  options.data.path = command.data;
  const FitOptions fit = options.resolve();
  BET_CHECK(fit.final_part != TrainingPart::kAll, command.run,
            ": was trained on every interaction; nothing is held out to measure on");
  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const TableShape shape = options.shape_of(dataset);
  const Split split = options.data.split_of(dataset);
  const FinalModel model = read_final_model(run.checkpoint(), shape);
  BET_CHECK(model.identity.starts_with(hash), command.data, ": is not the data that ", command.run,
            " was trained on (hash ", hash, ")");
  const at::Device device = find_device(command.device);
  const Graph graph = make_graph(split, fit.final_part).to(device);
  const auto backbone = make_backbone(options.backbone, graph, fit.model.precision);
  const Metrics test = evaluate(backbone->vectors(model.table.values.to(device)),
                                model.table.models[0], split, HeldOut::kTest, graph);
  return {{"run", command.run}, {"users", test.num_users}, {"test", metrics_json(test)}};
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("evaluate", "measure a run's final model on test");
  const auto options = std::make_shared<EvaluateCommand>();  // owned by the parser's callback
  command.add_option("RUN", options->run, "a run folder")->required();
  command.add_option("DATA", options->data, "the data it was trained on")->required();
  command.add_option("--threads", options->threads, "0: one per core")->capture_default_str();
  command.add_option("--device", options->device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] {
    const Json json = evaluate_run(*options);
    if (options->json) {
      std::puts(json.dump().c_str());
      return;
    }
    for (const auto& [name, value] : json["test"].items()) {
      std::printf("%-10s %.4f\n", name.c_str(), value.get<double>());
    }
  });
}

}  // namespace bet
