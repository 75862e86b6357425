#include "run/compare.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/many_runs.h"
#include "cli/option_parser.h"
#include "run/option_table.h"

namespace bet {
namespace {

// Lists are as they were typed: words between commas.
struct CompareCommand {
  CompareJob job;
  std::string budgets;
  std::string methods = job.options.method;
  std::string backbones = job.options.backbone;
  bool quiet = false;
};

void run_compare(CompareCommand& command) {
  for (const std::string& budget : words_of_list(command.budgets)) {
    command.job.budgets.push_back(parse_budget(budget));
  }
  command.job.methods = words_of_list(command.methods);
  command.job.backbones = words_of_list(command.backbones);
  show_many_runs(command.quiet, [&](const CompareCallbacks& callbacks) {
    const CompareResult result = compare(command.job, callbacks);
    std::printf("%s", table_text(result.cells).c_str());
    if (!result.pairs.rows.empty()) std::printf("\n%s", table_text(result.pairs).c_str());
    for (const std::string& sentence : result.within) std::printf("\n%s\n", sentence.c_str());
    std::printf("\nresults     %s\n", result.folder.c_str());
  });
}

void add_within(CLI::App& command, std::optional<double>& within) {
  const auto problem = [](const std::string& text) -> std::string {
    try {
      parse_percent(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  add_text(
      command, "--within", [&within](const std::string& text) { within = parse_percent(text); },
      "such as 1%: names the smallest file whose recall@20 on validation is at most that much "
      "below that of full size, which is then one of the methods")
      .type_name("TEXT")
      ->check(CLI::Validator(problem, ""))
      ->group("Comparison");
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "compare", "fit every budget with every method, backbone and seed; continues where it was");
  const auto options = std::make_shared<CompareCommand>();  // owned by the parser's callback
  CompareJob& job = options->job;
  std::vector<Option<FitOptions>> table = fit_option_table();
  std::erase_if(table, [](const Option<FitOptions>& row) {
    return row.name == "budget" || row.name == "method" || row.name == "backbone";
  });
  add_options(command, table, job.options);
  command.add_option("--budget", options->budgets, "as of fit; several between commas")
      ->group("Comparison");
  command
      .add_option("--method", options->methods,
                  "as of fit; several between commas: the first is tested against the others")
      ->capture_default_str()
      ->group("Comparison");
  command.add_option("--backbone", options->backbones, "as of fit; several between commas")
      ->capture_default_str()
      ->group("Comparison");
  command.add_option("--seeds", job.seeds, "seeds of each, from --seed on")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group("Comparison");
  add_within(command, job.within);
  command.add_option("--out", job.folder, "folder of all runs (default runs/<data>-compare)")
      ->group("Run");
  command.add_flag("--quiet", options->quiet, "no progress on stderr")->group("Run");
  command.callback([options] { run_compare(*options); });
}

}  // namespace bet
