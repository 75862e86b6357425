#include "data/load.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/interaction_parser.h"
#include "data/line_blocks.h"
#include "data/synthetic.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

struct Source {
  fs::path path;
  bool in_test = false;
  // As read:
  std::string name;
  TableFormat format;
  std::uint64_t first_entry = 0;  // of the log
};

// "ratings.csv.gz" is "ratings.csv".
std::string name_without_compression(const fs::path& path) {
  const fs::path name = path.filename();
  return name.extension() == ".gz" || name.extension() == ".zst" ? name.stem().string()
                                                                 : name.string();
}

std::vector<fs::path> files_named(const fs::path& folder, std::string_view name) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && name_without_compression(entry.path()) == name) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> interaction_files(const fs::path& folder) {
  static constexpr std::array<std::string_view, 5> kKnownNames = {
      "ratings.csv", "ratings.dat", "u.data", "interactions.csv", "interactions.tsv"};
  for (const std::string_view name : kKnownNames) {
    std::vector<fs::path> found = files_named(folder, name);
    if (!found.empty()) return found;
  }
  static constexpr std::array<std::string_view, 6> kEndings = {".inter", ".csv", ".tsv",
                                                               ".data",  ".dat", ".txt"};
  std::vector<fs::path> found;
  for (const std::string_view ending : kEndings) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file() &&
          fs::path(name_without_compression(entry.path())).extension() == ending) {
        found.push_back(entry.path());
      }
    }
    if (!found.empty() && ending == ".inter") break;
  }
  std::sort(found.begin(), found.end());
  return found;
}

Source source_at(const fs::path& path, bool in_test = false) {
  Source source;
  source.path = path;
  source.in_test = in_test;
  return source;
}

std::vector<Source> find_sources(const fs::path& path, bool& with_parts) {
  std::error_code ignored;  // open_bytes says what is wrong with a path that is no folder
  if (path == "-" || !fs::is_directory(path, ignored)) return {source_at(path)};
  const std::vector<fs::path> train = files_named(path, "train.txt");
  const std::vector<fs::path> test = files_named(path, "test.txt");
  if (!train.empty()) {
    BET_CHECK(train.size() == 1 && test.size() <= 1, path.string(),
              ": more than one train.txt or test.txt");
    std::vector<Source> sources = {source_at(train[0])};
    if (!test.empty()) sources.push_back(source_at(test[0], true));
    with_parts = !test.empty();
    return sources;
  }
  const std::vector<fs::path> files = interaction_files(path);
  BET_CHECK(!files.empty(), path.string(),
            ": folder without data: no train.txt and no .csv, .tsv, .inter, .data, .dat or .txt "
            "(plain, .gz or .zst)");
  std::string names;
  for (const fs::path& file : files)
    names += (names.empty() ? "" : ", ") + file.filename().string();
  BET_CHECK(files.size() == 1, path.string(), ": which file? There are ", names);
  return {source_at(files[0])};
}

// A first line that was read as data.
void check_data_lines(std::span<const Source> sources, InteractionLog& log) {
  for (const Source& source : sources) {
    const TableFormat& format = source.format;
    if (!format.header_in_doubt || format.header) continue;
    check_first_line(format, source.name, log.occurs_again(source.first_entry));
  }
}

// A first line that was skipped as a header.
void check_header_lines(std::span<const Source> sources, const Dataset& dataset) {
  for (const Source& source : sources) {
    const TableFormat& format = source.format;
    if (!format.header_in_doubt || !format.header) continue;
    check_first_line(format, source.name,
                     dataset.users.find(format.first_line[format.user]).has_value() ||
                         dataset.items.find(format.first_line[format.item]).has_value());
  }
}

}  // namespace

std::string dataset_name(const fs::path& path) {
  if (path == "-") return "stdin";
  const fs::path name = fs::absolute(path).lexically_normal();
  if (!name.has_filename()) return name.parent_path().filename().string();  // "gowalla/"
  const fs::path file = name_without_compression(name);
  return fs::is_directory(path) ? file.string() : file.stem().string();
}

Dataset load_dataset(const fs::path& path, const ReadOptions& options) {
  Dataset dataset;
  if (path == "demo") {
    BET_CHECK(!options.min_rating && !options.with_times, "demo: has neither ratings nor times");
    dataset = synthetic_dataset({});
    dataset.name = "demo";
    keep_core(dataset, options.min_user_inter, options.min_item_inter);
    return dataset;
  }
  bool with_parts = false;
  std::vector<Source> sources = find_sources(path, with_parts);
  IdBuilder users("users", options.max_count);
  IdBuilder items("items", options.max_count);
  InteractionLog log({with_parts, options.with_times, options.max_count});
  InteractionSink sink{users, items, log, options.min_rating, options.with_times};
  for (Source& source : sources) {
    LineBlocks lines(source.path);
    const std::string_view first = lines.next();
    FormatHints hints = options.hints;
    // A pre-split folder is LightGCN's unless said otherwise: a line "17 3" there is no table row.
    if (with_parts && (hints.format.empty() || hints.format == "auto") && !hints.give_columns()) {
      hints.format = "lightgcn";
    }
    source.name = lines.name();
    source.format = detect_format(first, source.name, hints);
    source.first_entry = log.size();
    sink.in_test = source.in_test;
    parse_interactions(lines, first, source.format, sink);
  }
  const std::string shown = source_name(path);
  BET_CHECK(log.size() > 0, shown, ": no interactions",
            sink.below_min_rating > 0
                ? str_cat("; all ", sink.below_min_rating, " are rated below --min-rating")
                : "");
  check_data_lines(sources, log);
  IdBuilder::Result user_ids = users.finish();
  IdBuilder::Result item_ids = items.finish();
  LoggedRows rows = log.finish(user_ids.new_index, item_ids.new_index);
  dataset.name = dataset_name(path);
  dataset.format = sources[0].format.name;
  dataset.header = sources[0].format.header;
  dataset.columns = describe_columns(sources[0].format);
  dataset.users = std::move(user_ids.table);
  dataset.items = std::move(item_ids.table);
  dataset.interactions = std::move(rows.csr);
  dataset.in_test = std::move(rows.in_test);
  dataset.times = std::move(rows.times);
  dataset.duplicates = rows.duplicates;
  dataset.below_min_rating = sink.below_min_rating;
  check_header_lines(sources, dataset);
  keep_core(dataset, options.min_user_inter, options.min_item_inter);
  return dataset;
}

}  // namespace bet
