#include "run/experiment.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/many_runs.h"
#include "cli/option_parser.h"
#include "run/option_table.h"

namespace bet {
namespace {

struct ExperimentCommand {
  ExperimentJob job;
  std::string name;
  std::string only;
  bool quiet = false;
};

void run_experiment_command(ExperimentCommand& command) {
  ExperimentJob& job = command.job;
  job.kind = std::ranges::find(experiment_names(), command.name, &ExperimentName::name)->kind;
  job.only = words_of_list(command.only);
  show_many_runs(command.quiet, [&](const CompareCallbacks& callbacks) {
    const ExperimentResult result = experiment(job, callbacks);
    for (const ResultTable& table : result.tables) std::printf("%s\n", table_text(table).c_str());
    std::printf("results     %s\n", result.folder.c_str());
  });
}

// The options of fit that an experiment leaves open. Its models are trained by BPR, as in the
// paper, unless another loss is asked for.
std::vector<Option<FitOptions>> common_options() {
  std::vector<Option<FitOptions>> table = fit_option_table();
  std::erase_if(table, [](const Option<FitOptions>& row) {
    constexpr std::array kOwn = {"data", "budget", "method", "backbone", "selection"};
    return std::ranges::find(kOwn, row.name) != kOwn.end();
  });
  for (Option<FitOptions>& row : table) {
    if (row.name == "loss") row.get = [](const FitOptions&) { return std::optional("bpr"); };
  }
  return table;
}

}  // namespace

void add_experiment(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "experiment", "the tables and figures of the BET paper, with its figures beside ours");
  const auto options = std::make_shared<ExperimentCommand>();  // owned by the parser's callback
  ExperimentJob& job = options->job;
  job.options.loss = LossSetting::kBpr;
  std::vector<std::string> names;
  std::string about;
  for (const ExperimentName& one : experiment_names()) {
    names.emplace_back(one.name);
    about += (about.empty() ? "" : ", ") + names.back() + " (" + std::string(one.about) + ")";
  }
  command.add_option("NAME", options->name, about)->required()->check(CLI::IsMember(names));
  command
      .add_option("DATA", job.data,
                  "files or folders, as of fit; the paper's are gowalla and "
                  "yelp2018")
      ->required();
  add_options(command, common_options(), job.options);
  command.add_option("--seeds", job.seeds, "seeds of each run, from --seed on")
      ->check(CLI::Range(1, 100))
      ->capture_default_str()
      ->group("Experiment");
  command
      .add_option("--only", options->only,
                  "makes these runs alone, such as gowalla/lightgcn/bet,es/5%: data, backbone, "
                  "method, budget or what is varied, between slashes; several between commas")
      ->group("Experiment");
  command.add_option("--out", job.folder, "folder of all runs (default runs/experiments)")
      ->group("Run");
  command.add_flag("--quiet", options->quiet, "no progress on stderr")->group("Run");
  command.callback([options] { run_experiment_command(*options); });
}

}  // namespace bet
