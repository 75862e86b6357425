#include "run/compare.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/with_commas.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/option_parser.h"
#include "cli/progress_line.h"
#include "run/compare_results.h"
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

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

std::string spread_text(const Spread& spread) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.4f ± %.4f", spread.mean, spread.deviation);
  return text;
}

void print_table(const std::vector<ComparedCell>& cells) {
  std::printf("%-10s %-10s %-8s %4s %14s %14s  %-17s %-17s %s\n", "backbone", "method", "budget",
              "runs", "table bytes", "file bytes", "validation R@20", "test R@20", "test N@20");
  for (const ComparedCell& cell : cells) {
    const auto bytes = [](double value) {
      return with_commas(static_cast<std::uint64_t>(std::llround(value)));
    };
    std::printf("%-10s %-10s %-8s %4llu %14s %14s  %-18s %-18s %s\n", cell.backbone.c_str(),
                cell.method.c_str(), cell.budget.empty() ? "-" : cell.budget.c_str(),
                static_cast<unsigned long long>(cell.runs), bytes(cell.bytes).c_str(),
                bytes(cell.file_bytes).c_str(), spread_text(cell.validation_recall).c_str(),
                spread_text(cell.test_recall).c_str(), spread_text(cell.test_ndcg).c_str());
  }
}

std::string time_text(double seconds) {
  const auto whole = static_cast<unsigned long long>(seconds);
  return std::to_string(whole / 60) + "m " + std::to_string(whole % 60) + "s";
}

void print_progress(const CompareProgress& progress) {
  const ComparedRun& run = *progress.run;
  char quality[64] = "";
  if (run.report) {
    std::snprintf(quality, sizeof(quality), "test R@20 %.4f", run.report->test.recall[2]);
  }
  const std::string left =
      progress.seconds_left >= 0 ? "  ETA of all " + time_text(progress.seconds_left) : "";
  std::fprintf(stderr, "%zu/%zu %s  %s%s\n", progress.done, progress.total,
               run.folder.filename().c_str(), run.report ? quality : run.error.c_str(),
               left.c_str());
}

void run_compare(CompareCommand& command) {
  for (const std::string& budget : words_of(command.budgets)) {
    command.job.budgets.push_back(parse_budget(budget));
  }
  command.job.methods = words_of(command.methods);
  command.job.backbones = words_of(command.backbones);
  watch_interrupts();
  say_at_interrupt("\nCtrl-C: saving; the same command continues\n");
  CompareCallbacks callbacks;
  // What was cut short could not be compared: the run is left to be continued.
  callbacks.fit.leave = [interrupted = false]() mutable {
    interrupted = interrupted || take_interrupt();
    return interrupted;
  };
  ProgressLine line;
  if (!command.quiet) {
    callbacks.run_begins = [&](const CompareProgress& progress) {
      line.set_heading(std::to_string(progress.done + 1) + "/" + std::to_string(progress.total) +
                       " " + progress.run->folder.filename().string() + "  ");
    };
    callbacks.fit.progress.progress = [&](const RunProgress& progress) { line.show(progress); };
    callbacks.run_ended = [&](const CompareProgress& progress) {
      line.clear();
      print_progress(progress);
    };
  }
  try {
    const CompareResult result = compare(command.job, callbacks);
    print_table(compared_cells(result.runs));
    std::printf("\nresults     %s\n", result.folder.c_str());
  } catch (const Interrupted& error) {
    std::fprintf(stderr, "bet: %s\n", error.what());
    throw CLI::RuntimeError(interrupted_exit_code());
  }
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
  command.add_option("--method", options->methods, "as of fit; several between commas")
      ->capture_default_str()
      ->group("Comparison");
  command.add_option("--backbone", options->backbones, "as of fit; several between commas")
      ->capture_default_str()
      ->group("Comparison");
  command.add_option("--seeds", job.seeds, "seeds of each, from --seed on")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group("Comparison");
  command.add_option("--out", job.folder, "folder of all runs (default runs/<data>-compare)")
      ->group("Run");
  command.add_flag("--quiet", options->quiet, "no progress on stderr")->group("Run");
  command.callback([options] { run_compare(*options); });
}

}  // namespace bet
