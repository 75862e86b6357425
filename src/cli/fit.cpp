#include "run/fit.h"

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/fit_summary.h"
#include "cli/interrupt.h"
#include "cli/option_parser.h"
#include "cli/progress_line.h"
#include "cli/ranks.h"
#include "run/option_table.h"
#include "run/report_json.h"

namespace bet {
namespace {

// What a process prints; nothing of it decides the result.
struct OutputOptions {
  bool json = false;
  bool quiet = false;
  std::uint32_t comm_timeout = kRankTimeoutSeconds;

  void add_to(CLI::App& command) {
    command.add_flag("--json", json, "print report.json to stdout")->group("Run");
    command.add_flag("--quiet", quiet, "no progress on stderr")->group("Run");
    command
        .add_option("--comm-timeout", comm_timeout,
                    "seconds after which a rank that is not heard of is lost (several processes "
                    "that make one run: docs/scale.md)")
        ->group("Run")
        ->check(CLI::Range(1U, 86'400U))
        ->capture_default_str();
  }
};

struct FitCommand {
  FitOptions options;
  std::string out;
  std::string config;  // read before the line is parsed (with_config_file)
  bool overwrite = false;
  bool resume = false;
  bool continue_search = false;
  OutputOptions output;
};

FitJob job_of(const FitCommand& command) {
  FitJob job = {command.options, command.out, FitMode::kNew};
  if (command.resume) {
    BET_CHECK(!command.overwrite, "--overwrite cannot be given to `bet resume`, which continues ",
              command.out);
    job.mode = command.continue_search ? FitMode::kContinueSearch : FitMode::kResume;
  } else if (command.overwrite) {
    job.mode = FitMode::kOverwrite;
  }
  return job;
}

FitCallbacks callbacks_of(const OutputOptions& output, ProgressLine& line) {
  FitCallbacks callbacks;
  callbacks.stop = take_interrupt;
  callbacks.leave = is_terminated;
  callbacks.began = watch_termination;
  callbacks.stop_effect = [](StopEffect effect) {
    say_at_interrupt(effect == StopEffect::kFinishes ? kFinishing : kNothingToFinish);
  };
  if (output.quiet) return callbacks;
  callbacks.message = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  callbacks.progress = line.callbacks();
  return callbacks;
}

void run_fit(const FitCommand& command) {
  try {
    FitJob job = job_of(command);
    job.ranks = join_ranks(command.output.comm_timeout);
    if (job.ranks && job.ranks->rank() > 0) {
      FitCallbacks callbacks;
      callbacks.leave = is_terminated;
      callbacks.began = watch_termination;
      fit(job, callbacks);
      return;
    }
    watch_interrupts();
    ProgressLine line;
    const FitResult result = fit(job, callbacks_of(command.output, line));
    if (command.output.json) {
      std::puts(json_text(report_json(result.report), 2).c_str());
    } else {
      std::fputs(fit_summary(result.report, result.folder).c_str(), stdout);
    }
  } catch (const Interrupted& error) {
    std::fprintf(stderr, "bet: %s\n", error.what());
    throw CLI::RuntimeError(interrupted_exit_code());
  }
}

}  // namespace

void add_fit(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("fit", "train a model inside a memory budget");
  const auto options = std::make_shared<FitCommand>();  // owned by the parser's callback
  add_options(command, fit_option_table(), options->options);
  command
      .add_option("--out", options->out,
                  "run folder (default runs/<data>-<backbone>-<method>-<budget>-<seed>, and "
                  "behind it what is not the default of split, filters, precision, serving)")
      ->group("Run");
  command
      .add_option("--config", options->config, "TOML file of these options; the command line wins")
      ->group("Run");
  command.add_flag("--overwrite", options->overwrite, "replace an existing run folder")
      ->group("Run");
  command.add_flag("--resume", options->resume)->group("");  // these two for `bet resume`
  command.add_flag("--continue-search", options->continue_search)->group("");
  options->output.add_to(command);
  command.callback([options] { run_fit(*options); });
}

void add_resume(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("resume", "continue a run that was interrupted");
  // For --help and for lines that are not understood; others reach `fit` (resume_as_fit).
  struct ResumeCommand {
    std::string run;
    bool continue_search = false;
    std::uint32_t threads = 0;
    OutputOptions output;
  };
  const auto options = std::make_shared<ResumeCommand>();  // owned by the parser's callback
  command.add_option("RUN", options->run, "a run folder")->required();
  command.add_flag("--continue-search", options->continue_search,
                   "probe the plans that a search cut short by Ctrl-C has left out, and train the "
                   "best again");
  command.add_option("--threads", options->threads, "0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  options->output.add_to(command);
  command.callback([options] { fail("resume ", options->run, ": give one run folder"); });
}

}  // namespace bet
