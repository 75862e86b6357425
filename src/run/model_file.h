#pragma once

#include <filesystem>

#include "data/dataset.h"
#include "data/split.h"
#include "model/model_parameters.h"
#include "run/export_choice.h"
#include "run/fit_report.h"

namespace bet {

// A final model and what it was trained on. Everything referred to outlives it.
struct TrainedModel {
  const Dataset& dataset;  // the ids of users and items
  const Split& split;
  const FitOptions& options;  // resolved
  const ModelParameters& parameters;
};

// How many bytes, at most, the model file of a plan takes, before it is trained: with what the
// options leave open decided so that they are most.
std::uint64_t most_file_bytes(const Dataset& dataset, const Split& split, const FitOptions& options,
                              const SizePlan& plan, bool with_seen);

// How many bytes of a model file, at most, are not those of its table, whatever the plan.
// `shape` is that of the plans, of this form.
std::uint64_t most_bytes_beside_table(const Dataset& dataset, const Split& split,
                                      const FitOptions& options, const TableShape& shape,
                                      StoredForm form, bool with_seen);

// Throws where a model file could not hold these users, items and interactions, whatever is trained
// on them. Before the split, which takes the interactions.
void check_file_limits(const Dataset& dataset);

// Writes the file (docs/format.md) of a final model, whole or not at all. `report` is the run's,
// with the quality of `parameters` on test. Completes the report with what only the file decides:
// bytes and precision, and, where the file does not have the very values that were trained, the
// quality of the file as `test`, that of the trained model as `as_trained`. The file's facts say
// the same. Throws, and writes nothing, where its bytes or those of its table break the options'
// budget, and for a graph without seen items.
void write_model_file(const std::filesystem::path& path, const TrainedModel& trained,
                      const ExportChoice& choice, FitReport& report);

}  // namespace bet
