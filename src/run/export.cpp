#include "run/export.h"

#include "base/error.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "run/error_kinds.h"
#include "run/file_details.h"
#include "run/model_file.h"
#include "run/option_table.h"
#include "run/report_files.h"
#include "run/report_json.h"
#include "run/run_folder.h"
#include "run/spending.h"
#include "train/retraining.h"

namespace bet {
namespace {

FitOptions options_of(const ExportJob& job, const RunFiles& files) {
  FitOptions options = stored_options(read_config(files.config()));
  if (!job.data.empty()) options.data.path = job.data;
  if (job.precision) options.precision = *job.precision;
  if (job.materialised) options.materialised = *job.materialised;
  return with_defaults(options);
}

ExportResult write_again(const ExportJob& job) {
  use_huge_page_tensors();
  set_num_threads(job.threads);
  const RunFiles files = RunFolder::find(job.run);
  std::optional<RunFolder> run;
  if (job.out.empty()) run = RunFolder::open(files.folder);
  BET_CHECK(std::filesystem::exists(files.report()), job.run.string(),
            ": is not complete; `bet resume ", job.run.string(), "` continues it");
  const FitOptions options = options_of(job, files);
  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  const FinalModel model =
      read_final_model(files.checkpoints().folder, table_shape(options, dataset));
  BET_CHECK(model.identity.starts_with(hash), options.data.path, ": is not the data that ",
            job.run.string(), " was trained on (hash ", hash, ")");
  // Runs of earlier versions were trained in fp32 and rounded after it.
  const TablePrecision trained_precision =
      model.table.precisions.empty() ? TablePrecision() : model.table.precisions[0];
  ExportChoice choice = export_choice(options, trained_precision, model.table.form());
  // As the run's own file, unless asked otherwise.
  const FitOptions of_run = with_defaults(stored_options(read_config(files.config())));
  choice.with_seen = !job.without_seen &&
                     (resolve_spending(of_run, dataset, split).with_seen || !choice.materialised);
  ExportResult result;
  result.report = read_report(files.report());
  result.file = job.out.empty() ? files.model() : job.out;
  FitOptions trained = with_loss(options, model.loss);
  trained.materialised = choice.materialised;
  write_model_file(result.file, {dataset, split, trained, model.table}, choice, result.report);
  add_file_details(result.file, dataset, split, trained, result.report.details);
  if (job.out.empty()) write_report_files(result.report, files);
  return result;
}

}  // namespace

ExportResult export_model(const ExportJob& job) {
  return with_error_kinds([&] { return write_again(job); });
}

}  // namespace bet
