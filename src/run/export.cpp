#include "run/export.h"

#include "base/error.h"
#include "model/tensor_memory.h"
#include "model/threads.h"
#include "run/model_file.h"
#include "run/option_table.h"
#include "run/report_json.h"
#include "run/run_folder.h"
#include "train/retraining.h"

namespace bet {
namespace {

FitOptions options_of(const ExportJob& job, const RunFolder& run) {
  FitOptions options = options_from(read_config(run.files().config()));
  if (!job.data.empty()) options.data.path = job.data;
  if (job.precision) options.precision = *job.precision;
  if (job.materialised) options.materialised = *job.materialised;
  return with_defaults(options);
}

}  // namespace

ExportResult export_model(const ExportJob& job) {
  use_huge_page_tensors();
  set_num_threads(static_cast<int>(job.threads));
  const RunFolder run = RunFolder::open(job.run);
  BET_CHECK(std::filesystem::exists(run.files().report()), job.run.string(),
            ": is not complete; `bet resume ", job.run.string(), "` continues it");
  const FitOptions options = options_of(job, run);
  ExportChoice choice = export_choice(options);
  choice.with_seen = !job.without_seen;

  Dataset dataset = options.data.load();
  const std::string hash = dataset.hash();
  const Split split = options.data.split_of(dataset);
  const FinalModel model =
      read_final_model(run.files().checkpoints().folder, table_shape(options, dataset));
  BET_CHECK(model.identity.starts_with(hash), options.data.path, ": is not the data that ",
            job.run.string(), " was trained on (hash ", hash, ")");
  ExportResult result;
  result.report = read_report(run.files().report());
  result.file = job.out.empty() ? run.files().model() : job.out;
  write_model_file(result.file, {dataset, split, options, model.table}, choice, result.report);
  if (job.out.empty()) write_report(result.report, run.files().report());
  return result;
}

}  // namespace bet
