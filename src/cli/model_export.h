#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/precision.h"
#include "cli/fit_options.h"
#include "data/dataset.h"
#include "data/split.h"
#include "train/retraining.h"

namespace bet {

// How a trained model is stored.
struct ExportChoice {
  Precision precision = Precision::kFloat32;
  bool materialised = false;           // the propagated vectors instead of table and graph
  std::uint32_t layers_in_vector = 0;  // BackboneKind's
  bool with_seen = true;               // the items that users have; a graph is made of them
};

// As the options say.
ExportChoice export_choice(const FitCommand& options);

// Bytes of the two row sections under a plan: what a byte budget is a promise on.
std::uint64_t exported_table_bytes(const SizePlan& plan, const ExportChoice& choice);

// Writes the file (docs/format.md) of a final model, whole or not at all. Users and items come from
// `ids`; `report` is the run's, with the quality of `table` in "test". Completes the report with
// what only the file decides: used.bytes and used.file_bytes, and, where the file does not hold the
// very values that were trained, the quality of the file as "test", that of the trained model as
// "test_fp32". The file's facts say the same. Throws, and writes nothing, where the bytes of its
// table break the options' budget, and for a graph without seen items.
void write_model_file(const std::filesystem::path& path, const Dataset& ids, const Split& split,
                      const FitCommand& options, const ModelParameters& table,
                      const ExportChoice& choice, nlohmann::ordered_json& report);

}  // namespace bet
