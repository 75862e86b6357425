#pragma once

#include <filesystem>

#include "data/dataset.h"

namespace bet::bench {

// The folder that --data names; shared/data/gowalla beside the project by default. Where that is
// missing, a made-up set of its size is used and said.
void set_data_path(const std::filesystem::path& path);
std::filesystem::path data_path();

// Read once and kept.
const Dataset& dataset();

// The file that --csv names; by default the same interactions, written on first use into the
// folder for temporary files.
void set_csv_path(const std::filesystem::path& path);
std::filesystem::path csv_path();

}  // namespace bet::bench
