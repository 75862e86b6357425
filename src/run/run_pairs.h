#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/paired_test.h"
#include "run/run_groups.h"

namespace bet {

// Two methods compared on the test items of the same users, by one metric. A user's value is the
// mean over the seeds that both have.
struct RunPair {
  const RunGroup* one = nullptr;
  const RunGroup* other = nullptr;
  MetricKind metric;
  std::uint64_t users = 0;
  PairedTest test;
  double holm_p = 1;                // the test's p, corrected for all pairs that are read together
  BootstrapInterval interval = {};  // of the difference, over users
  std::uint64_t seeds = 0;          // that both have,
  Spread over_seeds;                // the difference of their means by seed
  std::uint64_t seeds_better = 0;

  // In percent of the other's mean.
  double percent(double difference) const {
    return test.other_mean == 0 ? 0 : 100 * difference / test.other_mean;
  }
};

// Every pair by every metric, corrected together. Reads test_hits.csv of the runs; groups must
// outlive the result. Runs without that file, which earlier versions made, are left out, and with
// them pairs without a common seed. Throws if two runs on the same data have other users.
std::vector<RunPair> run_pairs(
    std::span<const std::pair<const RunGroup*, const RunGroup*>> compared,
    std::span<const MetricKind> metrics);

// pairs.csv: a line of names and a line for each pair.
std::string pairs_csv(std::span<const RunPair> pairs);

}  // namespace bet
