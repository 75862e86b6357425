#include "run/evaluate.h"

#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "run/report_json.h"

namespace bet {
namespace {

struct EvaluateCommand {
  EvaluationJob job;
  bool json = false;
};

void run_evaluate(const EvaluateCommand& command) {
  const Metrics test = evaluate_model(command.job);
  const nlohmann::ordered_json json = {{"run", command.job.subject.string()},
                                       {"users", test.num_users},
                                       {"test", metrics_json(test)}};
  if (command.json) {
    std::puts(json_text(json).c_str());
    return;
  }
  for (const auto& [name, value] : json["test"].items()) {
    std::printf("%-10s %.4f\n", name.c_str(), value.get<double>());
  }
}

}  // namespace

void add_evaluate(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("evaluate", "measure a run's final model, or a model file, on test");
  const auto options = std::make_shared<EvaluateCommand>();  // owned by the parser's callback
  EvaluationJob& job = options->job;
  command
      .add_option("RUN", job.subject,
                  "a run folder (its weights as trained), or a model file (as stored)")
      ->required();
  command.add_option("DATA", job.data, "the data it was trained on")->required();
  command.add_option("--threads", job.threads, "0: one per core")->capture_default_str();
  command.add_option("--device", job.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_flag("--json", options->json, "print one JSON object");
  command.callback([options] { run_evaluate(*options); });
}

}  // namespace bet
