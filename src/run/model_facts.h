#pragma once

#include <string>

#include "bet/model.h"
#include "run/fit_options.h"
#include "run/fit_report.h"
#include "runtime/facts.h"

namespace bet {

// What is read back of the facts that a model file has about its making: enough to measure it
// again.
struct ModelFacts {
  std::string data_hash;
  FitOptions options;  // without the path of the data
};

// What a run's options and report say, for the file. Same options and seed, same facts: what does
// not decide the result is left out.
Facts facts_of(const FitOptions& options, const FitReport& report);

// Read back from a file, also of earlier versions; `file` names it in errors. Throws where the file
// does not say which data it was trained on.
ModelFacts read_model_facts(const Model& model, const std::string& file);

}  // namespace bet
