#pragma once

#include "data/dataset.h"
#include "data/split.h"
#include "run/data_options.h"
#include "run/fit_report.h"

namespace bet {

// The data of a run, loaded and split. Any number of runs may share it.
struct RunData {
  Dataset dataset;  // without its interactions, which the split has
  Split split;
  FitReport::Data about;
};

// Throws where a model file could not hold these data.
RunData load_run_data(const DataOptions& options);

// The same of data that the caller has; `options` say how they are split.
RunData make_run_data(Dataset dataset, const DataOptions& options);

}  // namespace bet
