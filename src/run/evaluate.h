#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/metrics.h"

namespace bet {

// Measures a run's final model, as trained, or a model file, as stored, on the test part of the
// data it was trained on.
struct EvaluationJob {
  std::filesystem::path subject;  // a run folder or a model file
  std::string data;
  std::uint32_t threads = 0;  // 0: one per core
  std::string device = "cpu";
};

// Throws if the data are others, or if nothing was held out from the model.
Metrics evaluate_model(const EvaluationJob& job);

}  // namespace bet
