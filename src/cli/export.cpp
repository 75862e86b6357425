#include "run/export.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/with_commas.h"
#include "cli/commands.h"

namespace bet {
namespace {

struct ExportCommand {
  ExportJob job;
  std::string precision;
  std::string serving;
};

// ", test recall@20 0.1234 (as trained: 0.1240)"; nothing where nothing is held out.
std::string quality_text(const FitReport& report) {
  if (report.test.num_users == 0) return "";
  char text[80];
  std::snprintf(text, sizeof(text), ", test recall@20 %.4f", report.test.recall[2]);
  if (!report.as_trained) return text;
  char trained[40];
  std::snprintf(trained, sizeof(trained), " (as trained: %.4f)", report.as_trained->recall[2]);
  return std::string(text) + trained;
}

void run_export(ExportCommand command) {
  if (!command.precision.empty()) command.job.precision = parse_precision(command.precision);
  if (!command.serving.empty()) command.job.materialised = command.serving == "materialised";
  const ExportResult result = export_model(command.job);
  std::fprintf(stderr, "%s: %s bytes%s\n", result.file.c_str(),
               with_commas(result.report.used.file_bytes).c_str(),
               quality_text(result.report).c_str());
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("export", "write the model file of a run again");
  const auto options = std::make_shared<ExportCommand>();  // owned by the parser's callback
  ExportJob& job = options->job;
  command.add_option("RUN", job.run, "a run folder")->required();
  command.add_option("--data", job.data, "its data, if no longer where it was");
  command
      .add_option(
          "--precision", options->precision,
          "of the file (default: the run's): rows that were trained in another one are rounded")
      ->check(
          CLI::IsMember(std::vector<std::string>(kPrecisionNames.begin(), kPrecisionNames.end())));
  command.add_option("--serving", options->serving, "graph or materialised")
      ->check(CLI::IsMember({"graph", "materialised"}));
  command.add_flag("--without-seen", job.without_seen,
                   "leave out what users have seen; needs --serving materialised");
  command.add_option("--threads", job.threads, "0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--out", job.out, "file (default: model.bet in the run folder)");
  command.callback([options] { run_export(*options); });
}

}  // namespace bet
