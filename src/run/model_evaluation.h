#pragma once

#include <string>

#include "bet/model.h"
#include "data/dataset.h"
#include "data/split.h"
#include "model/executor.h"
#include "run/fit_options.h"
#include "run/user_quality.h"
#include "train/metrics.h"

namespace bet {

// Quality on test, by user, of the rows and weights that a model file stores, ranked with float32
// arithmetic as the file is served. `options` are those of the run, resolved; `split` has the data
// that it was trained on. Throws if the file has other users or items, or if nothing is held out
// for test.
UserQuality user_quality_of_file(const Model& model, const Dataset& dataset, const Split& split,
                                 const FitOptions& options, const at::Device& device);

// The mean over all users.
Metrics evaluate_model_file(const Model& model, const Dataset& dataset, const Split& split,
                            const FitOptions& options, const at::Device& device);

}  // namespace bet
