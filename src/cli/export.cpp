#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/model_export.h"
#include "cli/report.h"
#include "cli/run_folder.h"
#include "cli/text.h"
#include "model/tensor_memory.h"
#include "model/threads.h"

namespace bet {
namespace {

using Json = nlohmann::ordered_json;

struct ExportCommand {
  std::string run;
  std::string data;  // empty: where the run found it
  std::string precision;
  std::string serving;
  bool without_seen = false;
  int threads = 0;
  std::string out;
};

// ", test recall@20 0.1234 (as trained: 0.1240)"; nothing where nothing is held out.
std::string quality_text(const Json& report) {
  if (report["test"].is_null()) return "";
  char text[80];
  const double recall = report["test"]["recall@20"];
  std::snprintf(text, sizeof(text), ", test recall@20 %.4f", recall);
  if (!report.contains("test_fp32")) return text;
  char trained[40];
  std::snprintf(trained, sizeof(trained), " (as trained: %.4f)",
                report["test_fp32"]["recall@20"].get<double>());
  return std::string(text) + trained;
}

void export_run(const ExportCommand& command) {
  use_huge_page_tensors();
  set_num_threads(command.threads);
  const RunFolder run = RunFolder::open(command.run);
  BET_CHECK(std::filesystem::exists(run.report()), command.run, ": is not complete; `bet resume ",
            command.run, "` continues it");
  FitCommand options = parse_fit_options(read_config(run.config()));
  if (!command.data.empty()) options.data.path = command.data;
  if (!command.precision.empty()) options.precision = command.precision;
  if (!command.serving.empty()) options.serving = command.serving;
  ExportChoice choice = export_choice(options);
  choice.with_seen = !command.without_seen;

  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  const FinalModel model = read_final_model(run.checkpoint(), options.shape_of(dataset));
  BET_CHECK(model.identity.starts_with(hash), options.data.path, ": is not the data that ",
            command.run, " was trained on (hash ", hash, ")");
  Json report = Json::parse(std::ifstream(run.report()));
  const std::filesystem::path out =
      command.out.empty() ? run.model() : std::filesystem::path(command.out);
  write_model_file(out, dataset, split, options, model.table, choice, report);
  // The report is about the run's own file.
  if (command.out.empty()) run.write_report(json_text(report, 2));
  std::fprintf(stderr, "%s: %s bytes%s\n", out.c_str(),
               with_commas(report["used"]["file_bytes"]).c_str(), quality_text(report).c_str());
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("export", "write the model file of a run again");
  const auto options = std::make_shared<ExportCommand>();  // owned by the parser's callback
  command.add_option("RUN", options->run, "a run folder")->required();
  command.add_option("--data", options->data, "its data, if no longer where it was");
  command.add_option("--precision", options->precision, "fp32, fp16, int8 or int4")
      ->check(CLI::IsMember({"fp32", "fp16", "int8", "int4"}));
  command.add_option("--serving", options->serving, "graph or materialised")
      ->check(CLI::IsMember({"graph", "materialised"}));
  command.add_flag("--without-seen", options->without_seen,
                   "leave out what users have seen; needs --serving materialised");
  command.add_option("--threads", options->threads, "0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--out", options->out, "file (default: model.bet in the run folder)");
  command.callback([options] { export_run(*options); });
}

}  // namespace bet
