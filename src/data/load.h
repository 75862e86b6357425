#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "data/table_format.h"

namespace bet {

// How interactions are read, and which of them.
struct ReadOptions {
  FormatHints hints;
  // Interactions with a lower rating are left out; needs a rating column.
  std::optional<double> min_rating;
  // Interactions before this time are left out; needs a time column.
  std::optional<double> since;
  // Users and items with fewer interactions are dropped until none is left (k-core); 0 keeps all.
  std::uint64_t min_user_inter = 0;
  std::uint64_t min_item_inter = 0;
  // Keep the earliest time of each pair, for a split by time; takes 8 bytes more per line.
  bool with_times = false;
  // More users, items or lines than this are refused.
  std::uint64_t max_count = 0xffffffffU;
};

// Reads `path`: a file, a folder (train.txt and test.txt, or one file of interactions), "-" for
// standard input, or "demo" for the built-in data set. One pass over each file; InteractionLog says
// how much memory it takes. Throws an Error that names file, line and value.
Dataset load_dataset(const std::filesystem::path& path, const ReadOptions& options = {});

// The name of a data set: the folder's or file's name without extensions, "stdin" for "-".
std::string dataset_name(const std::filesystem::path& path);

}  // namespace bet
