#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/model_export.h"
#include "cli/run_folder.h"
#include "cli/text.h"
#include "model/tensor_memory.h"

namespace bet {
namespace {

struct ExportCommand {
  std::string run;
  std::string data;  // empty: where the run found it
  std::string precision;
  std::string serving;
  bool without_seen = false;
  std::string out;
};

void export_run(const ExportCommand& command) {
  use_huge_page_tensors();
  const RunFolder run = RunFolder::open(command.run);
  BET_CHECK(std::filesystem::exists(run.report()), command.run,
            ": is not complete; `bet resume` goes on with it");
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
  std::ifstream in(run.report());
  const std::string report((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::filesystem::path out =
      command.out.empty() ? run.model() : std::filesystem::path(command.out);
  const std::uint64_t bytes = write_model_file(out, dataset, split, options, model.table, choice,
                                               facts_of(options, hash, report));
  std::fprintf(stderr, "%s: %s bytes\n", out.c_str(), with_commas(bytes).c_str());
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
                   "leave out what users have seen; a graph needs it");
  command.add_option("--out", options->out, "file (default: model.bet in the run folder)");
  command.callback([options] { export_run(*options); });
}

}  // namespace bet
