#pragma once

#include <filesystem>
#include <string>

#include "run/fit_options.h"

namespace bet {

// Data and options that decide a run's result, as text: a state of another run is not resumed.
std::string run_identity(const FitOptions& options, const std::string& data_hash);

// Data and options that decide the full-size model that a search starts from, as text: the key of
// the cache. Nothing of the search, the budget or the model file.
std::string pretrained_identity(const FitOptions& options, const std::string& data_hash);

// Throws, naming option and both values, if `asked` contradicts the options that the run in
// `folder` was started with. What does not decide the result (threads, cache) may differ.
void refuse_contradictions(const FitOptions& kept, const FitOptions& asked,
                           const std::filesystem::path& folder);

}  // namespace bet
