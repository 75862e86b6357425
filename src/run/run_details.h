#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "train/metrics.h"
#include "train/training_curve.h"

namespace bet {

// What a report has in addition to the figures of its model, for the page and the table on the
// screen (docs/report.md). Reports of earlier versions have none of it.
struct RunDetails {
  std::string command;  // that makes the same run again

  struct Section {
    std::string name;
    std::uint64_t bytes = 0;
  };
  std::vector<Section> sections;  // of the model file; they sum to its size

  // One list for everybody, by the number of interactions in the data of each training.
  struct Popularity {
    Metrics validation;
    Metrics test;  // num_users is 0 where nothing is held out
  };
  std::optional<Popularity> popularity;

  // Users with test items who have about as many items in training: a quarter of them.
  struct ActivityGroup {
    std::uint64_t users = 0;
    std::uint64_t fewest = 0;  // items of a user in training
    std::uint64_t most = 0;
    Metrics test;  // of the model file
    Metrics popularity;
  };
  std::vector<ActivityGroup> activity;  // from the least active to the most active

  // Rows that follow each other from the most to the least frequent.
  struct RankBin {
    std::uint64_t first = 0;  // ranks, from 1
    std::uint64_t last = 0;
    double frequency = 0;  // mean number of interactions in train
    double size = 0;       // mean
    std::uint32_t smallest = 0;
    std::uint32_t largest = 0;
    double bytes = 0;  // mean, of a row as trained: its values and its scale
  };
  struct SideSizes {
    std::vector<std::uint32_t> counts;  // rows of each size, from 0 to the full one
    std::vector<RankBin> by_rank;
  };
  struct Sizes {
    TablePrecision precision;  // in which the rows were trained
    SideSizes users;
    SideSizes items;
  };
  std::optional<Sizes> sizes;  // of the chosen plan

  // A table that the chosen one is compared with.
  struct Table {
    std::uint64_t params = 0;
    std::uint64_t bytes = 0;
  };
  std::optional<Table> full_table;  // in fp32

  // The best plan of one size for all rows within the same budget.
  struct EqualSizes {
    std::uint32_t size = 0;
    TablePrecision precision;
    Table table;
    std::optional<Metrics> validation = {};  // where it was trained as the chosen plan was
    // Of the search's longest rung that measured both: scores on the same held-out items.
    struct Search {
      std::uint64_t steps = 0;
      double score = 0;
      double chosen = 0;  // of the chosen plan
    };
    std::optional<Search> search = {};
  };
  std::optional<EqualSizes> equal;

  std::uint64_t length_trials = 0;  // the first trainings of the search, which found the length

  std::vector<Measurement> train_curve;  // of the training that the plan was chosen by
  std::vector<Measurement> final_curve;  // of the final training
};

}  // namespace bet
