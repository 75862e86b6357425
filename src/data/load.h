#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "data/table_format.h"

namespace bet {

// How interactions are read and which are kept.
struct ReadOptions {
  FormatHints hints;
  // Interactions rated below are left out; needs a rating column.
  std::optional<double> min_rating;
  // Users and items with fewer interactions are dropped until none is left (k-core); 0 keeps all.
  std::uint64_t min_user_inter = 0;
  std::uint64_t min_item_inter = 0;
  // Keep the earliest time of each pair (for a split by time): 8 bytes a line more.
  bool with_times = false;
  // More users, items or lines than this are refused.
  std::uint64_t max_count = 0xffffffffU;
};

// Reads `path`: a file, a folder (train.txt and test.txt, or one file of interactions), "-" for
// standard input, or "demo". One pass; see InteractionLog for its memory. Throws Error naming file,
// line and value; nothing is left behind.
Dataset load_dataset(const std::filesystem::path& path, const ReadOptions& options = {});

// What a data set is called: the folder's or file's name without endings, "stdin" for "-".
std::string dataset_name(const std::filesystem::path& path);

}  // namespace bet
