#pragma once

#include <filesystem>

#include "data/dataset.h"
#include "data/split.h"
#include "run/fit_options.h"
#include "run/run_details.h"
#include "train/user_hits.h"

namespace bet {

// Where the bytes of a model file go; they sum to its size.
std::vector<RunDetails::Section> file_sections(const std::filesystem::path& file);

// Adds what only the model file tells: its sections, and the quality of what it stores by the
// activity of users, where anything is held out. `options` are those of the run, resolved. Returns
// the hits of every user with test items, ascending.
std::vector<UserHits> add_file_details(const std::filesystem::path& file, const Dataset& dataset,
                                       const Split& split, const FitOptions& options,
                                       RunDetails& details);

}  // namespace bet
