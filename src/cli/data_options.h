#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "data/load.h"
#include "data/split.h"

namespace bet {

// The options by which every command that takes DATA reads and splits it.
struct DataOptions {
  std::string path;
  ReadOptions read;
  std::string split = "random";
  std::uint64_t split_seed = 1;

  // Adds DATA and its options to a command. `this` must outlive the parser.
  void add_to(CLI::App& command);

  Dataset load() const;
  Split split_of(Dataset& dataset) const;
};

}  // namespace bet
