#include "run/data_options.h"

#include <filesystem>

namespace bet {
namespace {

OptionAbout about(const char* name, const char* help, Affects affects = Affects::kResult) {
  return {name, "Data", affects, help};
}

// A relative path would not be found again from another folder.
std::string absolute_path(const std::string& path) {
  if (path == "demo" || path == "-" || path == kInMemory) return path;
  return std::filesystem::absolute(path).lexically_normal().string();
}

Option<DataOptions> path_option() {
  // The hash of the interactions is part of a run's identity, and not where they were.
  Option<DataOptions> option = make_option<DataOptions>(
      about("data", "a file, a folder, - for standard input, or demo", Affects::kNothing),
      [](auto& o) -> auto& { return o.path; });
  option.get = [](const DataOptions& options) -> std::optional<std::string> {
    return absolute_path(options.path);
  };
  return option;
}

Option<DataOptions> format_option() {
  Option<DataOptions> option = make_option<DataOptions>(
      about("format", "auto, lightgcn, csv, tsv, inter, blank or colons"),
      [](auto& o) -> auto& { return o.read.hints.format; });
  option.get = [](const DataOptions& options) -> std::optional<std::string> {
    return options.read.hints.format.empty() ? "auto" : options.read.hints.format;
  };
  return option;
}

}  // namespace

Dataset DataOptions::load() const {
  BET_CHECK(path != kInMemory, "the data of this run were in memory: they have to be given again");
  ReadOptions options = read;
  options.with_times = split == SplitKind::kTime;
  return load_dataset(path, options);
}

Split DataOptions::split_of(Dataset& dataset) const {
  return make_split(std::move(dataset.interactions), dataset.num_items(), split, split_seed);
}

const std::vector<Option<DataOptions>>& data_option_table() {
  static const std::vector<Option<DataOptions>> table = {
      path_option(),
      format_option(),
      make_choice<DataOptions, SplitKind>(
          about("split", "random (50/25/25 per user), given (the folder's test part) or time",
                Affects::kPretrained),
          {{"random", SplitKind::kRandom},
           {"given", SplitKind::kGiven},
           {"time", SplitKind::kTime}},
          [](auto& o) -> auto& { return o.split; }),
      make_option<DataOptions>(
          about("split-seed", "seed of the split alone", Affects::kPretrained),
          [](auto& o) -> auto& { return o.split_seed; }),
      make_option<DataOptions>(
          about("min-user-inter", "drop users with fewer interactions (k-core)"),
          [](auto& o) -> auto& { return o.read.min_user_inter; }),
      make_option<DataOptions>(
          about("min-item-inter", "drop items with fewer interactions (k-core)"),
          [](auto& o) -> auto& { return o.read.min_item_inter; }),
      make_option<DataOptions>(
          about("user-col", "user column: a name, or a number from 1"),
          [](auto& o) -> auto& { return o.read.hints.user_col; }),
      make_option<DataOptions>(
          about("item-col", "item column: a name, or a number from 1"),
          [](auto& o) -> auto& { return o.read.hints.item_col; }),
      make_option<DataOptions>(
          about("rating-col", "rating column: a name, or a number from 1"),
          [](auto& o) -> auto& { return o.read.hints.rating_col; }),
      make_option<DataOptions>(
          about("time-col", "time column: a name, or a number from 1"),
          [](auto& o) -> auto& { return o.read.hints.time_col; }),
      make_option<DataOptions>(
          about("no-header", "the first line is data"),
          [](auto& o) -> auto& { return o.read.hints.no_header; }),
      make_option<DataOptions>(
          about("min-rating", "leave out interactions rated below"),
          [](auto& o) -> auto& { return o.read.min_rating; })};
  return table;
}

}  // namespace bet
