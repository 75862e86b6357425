#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/precision.h"
#include "cli/fit_options.h"
#include "data/dataset.h"
#include "data/split.h"
#include "runtime/facts.h"
#include "train/fit.h"

namespace bet {

// How a trained model is stored.
struct ExportChoice {
  Precision precision = Precision::kFloat32;
  bool materialised = false;           // the propagated vectors instead of table and graph
  std::uint32_t layers_in_vector = 0;  // BackboneKind's
  bool with_seen = true;               // a graph needs them in any case
};

// As the options say.
ExportChoice export_choice(const FitCommand& options);

// Bytes of the two row sections under a plan: what a byte budget is a promise on.
std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice);

// Writes the file (docs/format.md) of a final model, whole or not at all, and returns its size.
// Users and items come from `ids`. Throws, and writes nothing, where the bytes of its table break
// the options' budget.
std::uint64_t write_model_file(const std::filesystem::path& path, const Dataset& ids,
                               const Split& split, const FitCommand& options,
                               const MaskedTable& table, const ExportChoice& choice, Facts facts);

// What a run's report and options say, for the file.
Facts facts_of(const FitCommand& options, const std::string& data_hash,
               const std::string& report_json);

}  // namespace bet
