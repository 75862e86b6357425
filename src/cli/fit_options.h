#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/data_options.h"
#include "cli/run_folder.h"
#include "search/bet_search.h"
#include "search/method.h"
#include "train/retraining.h"

namespace bet {

// How a process works and what it prints; nothing of it decides the result.
struct ProcessOptions {
  int threads = 0;
  bool json = false;
  bool quiet = false;

  // `this` must outlive the parser.
  void add_to(CLI::App& command);
};

// Everything that `bet fit` can be told.
struct FitCommand {
  DataOptions data;
  std::string budget;  // empty: none
  std::string method = "bet";
  std::string selection = "deepsets";
  std::optional<std::uint32_t> iterations;
  std::optional<std::uint32_t> candidates;
  std::optional<std::uint32_t> finetune_epochs;
  std::optional<std::uint32_t> retrain_top;
  std::string cache;  // empty: under the user's cache folder
  std::optional<double> user_share;
  std::optional<double> memory_weight;
  std::string backbone = "lightgcn";
  std::string effort = "normal";
  std::string schedule;  // empty: the effort's
  std::optional<std::uint32_t> batch_size;
  std::string batches;    // users, interactions; empty: the schedule's
  std::string negatives;  // own, shared; empty: the schedule's
  std::optional<double> learning_rate;
  std::optional<std::uint32_t> patience;
  std::optional<std::uint64_t> max_steps;
  std::optional<std::uint64_t> measure_steps;
  std::string rows = "fp32";
  std::string precision = "fp32";
  std::string serving = "graph";
  std::string final_part = "train+val";
  std::string device = "cpu";
  std::uint32_t dim = 128;
  std::optional<std::uint32_t> min_dim;  // none: least_dim()
  std::uint64_t seed = 1;
  std::string out;
  std::string config;
  bool overwrite = false;
  bool resume = false;
  bool continue_search = false;  // of a run to resume
  ProcessOptions process;

  // `this` must outlive the parser.
  void add_to(CLI::App& command);

  // The run folder: as given, or runs/<data>-<backbone>-<method>-<budget>-<seed>, and behind it
  // what is not the default of split, filters, precision and serving.
  std::filesystem::path folder() const;

  // What the options come to, the effort's presets included. Throws on what cannot be.
  RetrainingOptions resolve() const;

  // The search's part of it; `seed` included.
  struct SearchChoice {
    SearchOptions options;
    Schedule probe_schedule;  // whose batches and rates probes have (finetune_schedule)
    std::uint32_t finetune_epochs = 0;
    std::uint32_t retrain_top = 0;
  };
  SearchChoice resolve_search() const;

  // What `method` is; null for the search itself.
  const MethodKind* kind() const { return find_method(method); }
  MethodOptions resolve_method() const;

  // The smallest size of a row: as given, or the default of method and backbone.
  std::uint32_t least_dim() const;

  // Where pretrained models are kept.
  std::filesystem::path cache_folder() const;

  // The table before any budget, with what the method's plans may have.
  TableShape shape_of(const Dataset& dataset) const;

  // Every option as resolved, to be kept with the run and to start it again.
  Config to_config() const;
};

// The options that these entries set; all others as they are by default.
FitCommand parse_fit_options(const Config& entries);

}  // namespace bet
