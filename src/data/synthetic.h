#pragma once

#include <cstdint>
#include <filesystem>

#include "data/dataset.h"

namespace bet {

// A made-up data set with the features that matter to a recommender: item popularity follows Zipf,
// user activity a power law, and every user favours a few of the latent clusters of items.
// The defaults are the built-in data set `demo`, frozen: a test pins its hash.
struct SyntheticOptions {
  std::uint32_t num_users = 2000;
  std::uint32_t num_items = 1500;  // items that nobody happened to draw are left out
  std::uint64_t num_interactions = 60000;
  std::uint32_t num_clusters = 50;
  std::uint64_t seed = 1;

  // Throws on counts that cannot be met (more pairs than half of users x items, ...).
  void validate() const;
};

Dataset synthetic_dataset(const SyntheticOptions& options);

// Writes user and item columns: .csv and .tsv with a header, .inter as RecBole has it; "-" is CSV
// on standard output. Whole or not at all.
void write_interactions(const Dataset& dataset, const std::filesystem::path& path);

}  // namespace bet
