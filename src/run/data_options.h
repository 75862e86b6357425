#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/option.h"
#include "data/load.h"
#include "data/split.h"

namespace bet {

// In place of the path of data that the caller had in memory (FitJob::data).
constexpr const char* kInMemory = "(in memory)";

// Which interactions are used, how they are read and split.
struct DataOptions {
  std::string path;  // a file, a folder, "-" for standard input, or "demo"
  ReadOptions read;
  SplitKind split = SplitKind::kRandom;
  std::uint64_t split_seed = 1;

  Dataset load() const;
  // Takes the interactions over; the ids stay.
  Split split_of(Dataset& dataset) const;
};

// The rows of the table of options that are about data; the first is the path, called "data".
const std::vector<Option<DataOptions>>& data_option_table();

}  // namespace bet
