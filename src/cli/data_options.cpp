#include "cli/data_options.h"

namespace bet {

void DataOptions::add_to(CLI::App& command) {
  command.add_option("DATA", path, "a file, a folder, - for standard input, or demo")->required();
  command.add_option("--format", read.hints.format,
                     "auto, lightgcn, csv, tsv, inter, blank or colons");
  command.add_option("--user-col", read.hints.user_col, "user column: a name, or a number from 1");
  command.add_option("--item-col", read.hints.item_col, "item column: a name, or a number from 1");
  command.add_option("--rating-col", read.hints.rating_col,
                     "rating column: a name, or a number from 1");
  command.add_option("--time-col", read.hints.time_col, "time column: a name, or a number from 1");
  command.add_flag("--no-header", read.hints.no_header, "the first line is data");
  command.add_option("--min-rating", read.min_rating, "leave out interactions rated below");
  command.add_option("--min-user-inter", read.min_user_inter,
                     "drop users with fewer interactions (k-core)");
  command.add_option("--min-item-inter", read.min_item_inter,
                     "drop items with fewer interactions (k-core)");
  command
      .add_option("--split", split,
                  "random (50/25/25 per user), given (the folder's test part) or time")
      ->check(CLI::IsMember({"random", "given", "time"}))
      ->capture_default_str();
  command.add_option("--split-seed", split_seed, "seed of the split alone")->capture_default_str();
}

Dataset DataOptions::load() const {
  ReadOptions options = read;
  options.with_times = parse_split_kind(split) == SplitKind::kTime;
  return load_dataset(path, options);
}

Split DataOptions::split_of(Dataset& dataset) const {
  return make_split(std::move(dataset.interactions), dataset.num_items(), parse_split_kind(split),
                    split_seed);
}

}  // namespace bet
