#pragma once

#include <cstdint>
#include <filesystem>

#include "data/dataset.h"

namespace bet {

// A made-up data set with the properties that matter to a recommender: item popularity follows
// Zipf's law, user activity a power law, and every user favours a few of the latent clusters of
// items. The defaults are the built-in data set `demo`, which never changes: a test pins its hash.
struct SyntheticOptions {
  std::uint32_t num_users = 2000;
  std::uint32_t num_items = 1500;  // items that no user drew are left out
  std::uint64_t num_interactions = 60000;
  std::uint32_t num_clusters = 50;
  std::uint64_t seed = 1;

  // Throws on counts that cannot be met, such as more pairs than half of users x items.
  void validate() const;
};

Dataset synthetic_dataset(const SyntheticOptions& options);

// Writes a user and an item column, in the format of the path's extension: .csv or .tsv with a
// header, or RecBole's .inter; "-" writes CSV to standard output. A file appears whole or not at
// all.
void write_interactions(const Dataset& dataset, const std::filesystem::path& path);

}  // namespace bet
