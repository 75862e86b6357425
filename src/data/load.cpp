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

// A file of interactions.
struct Source {
  fs::path path;
  bool in_test = false;  // holds the test part
  // Known once it is read:
  std::string name;
  TableFormat format;
  std::uint64_t first_entry = 0;  // the log's first entry from this file
};

// "ratings.csv" for "ratings.csv.gz".
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
  static constexpr std::array<std::string_view, 6> kExtensions = {".inter", ".csv", ".tsv",
                                                                  ".data",  ".dat", ".txt"};
  std::vector<fs::path> found;
  for (const std::string_view extension : kExtensions) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file() &&
          fs::path(name_without_compression(entry.path())).extension() == extension) {
        found.push_back(entry.path());
      }
    }
    if (!found.empty() && extension == ".inter") break;
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

// The one file of interactions in a folder without train.txt.
fs::path find_single_file(const fs::path& folder) {
  const std::vector<fs::path> files = interaction_files(folder);
  BET_CHECK(!files.empty(), folder.string(),
            ": folder without data: no train.txt and no .csv, .tsv, .inter, .data, .dat or .txt "
            "(plain, .gz or .zst)");
  std::string names;
  for (const fs::path& file : files) {
    names += (names.empty() ? "" : ", ") + file.filename().string();
  }
  BET_CHECK(files.size() == 1, folder.string(), ": more than one data file: ", names,
            "; give the path of one of them");
  return files[0];
}

std::vector<Source> find_sources(const fs::path& path) {
  std::error_code ignored;  // open_bytes reports a path that cannot be opened
  if (path == "-" || !fs::is_directory(path, ignored)) return {source_at(path)};
  const std::vector<fs::path> train = files_named(path, "train.txt");
  const std::vector<fs::path> test = files_named(path, "test.txt");
  if (train.empty()) return {source_at(find_single_file(path))};
  BET_CHECK(train.size() == 1 && test.size() <= 1, path.string(),
            ": more than one train.txt or test.txt");
  std::vector<Source> sources = {source_at(train[0])};
  if (!test.empty()) sources.push_back(source_at(test[0], true));
  return sources;
}

// Reads a file to its end and fills in what is known of it then.
void read_source(Source& source, FormatHints hints, bool with_parts, InteractionSink& sink) {
  LineBlocks lines(source.path);
  const std::string_view first = lines.next();
  // A folder with a test part is in LightGCN's format unless told otherwise: a line "17 3" there is
  // a user and its only item, not a row of a table.
  if (with_parts && (hints.format.empty() || hints.format == "auto") && !hints.has_columns()) {
    hints.format = "lightgcn";
  }
  source.name = lines.name();
  source.format = detect_format(first, source.name, hints);
  source.first_entry = sink.log.size();
  sink.in_test = source.in_test;
  parse_interactions(lines, first, source.format, sink);
}

// Confirms the guess for files whose first line was read as data.
void check_data_lines(std::span<const Source> sources, InteractionLog& log) {
  for (const Source& source : sources) {
    const TableFormat& format = source.format;
    if (!format.header_in_doubt || format.header) continue;
    check_first_line(format, source.name, log.occurs_again(source.first_entry));
  }
}

// Confirms the guess for files whose first line was skipped as a header.
void check_header_lines(std::span<const Source> sources, const Dataset& dataset) {
  for (const Source& source : sources) {
    const TableFormat& format = source.format;
    if (!format.header_in_doubt || !format.header) continue;
    check_first_line(format, source.name,
                     dataset.users.find(format.first_line[format.user]).has_value() ||
                         dataset.items.find(format.first_line[format.item]).has_value());
  }
}

Dataset load_demo(const ReadOptions& options) {
  BET_CHECK(!options.min_rating && !options.with_times && !options.since,
            "demo: the built-in data set has neither ratings nor times");
  Dataset dataset = synthetic_dataset({});
  dataset.name = "demo";
  return dataset;
}

Dataset read_files(const fs::path& path, const ReadOptions& options) {
  std::vector<Source> sources = find_sources(path);
  const bool with_parts = sources.back().in_test;
  IdBuilder users("users", options.max_count);
  IdBuilder items("items", options.max_count);
  InteractionLog log({with_parts, options.with_times, options.max_count});
  InteractionSink sink{users, items, log, options.min_rating, options.since, options.with_times};
  for (Source& source : sources) read_source(source, options.hints, with_parts, sink);
  BET_CHECK(log.size() > 0, source_name(path), ": no interactions",
            sink.below_min_rating > 0
                ? str_cat("; all ", sink.below_min_rating, " are rated below --min-rating")
            : sink.before_since > 0
                ? str_cat("; all ", sink.before_since, " are from before --expire")
                : "");
  check_data_lines(sources, log);
  IdBuilder::Result user_ids = users.finish();
  IdBuilder::Result item_ids = items.finish();
  LoggedRows rows = log.finish(user_ids.new_index, item_ids.new_index);
  Dataset dataset;
  dataset.name = dataset_name(path);
  dataset.format = sources[0].format.name;
  dataset.header = sources[0].format.header;
  dataset.columns = describe_columns(sources[0].format);
  dataset.users = std::move(user_ids.table);
  dataset.items = std::move(item_ids.table);
  dataset.interactions = std::move(rows.interactions);
  dataset.has_test_part = with_parts;
  dataset.duplicates = rows.duplicates;
  dataset.below_min_rating = sink.below_min_rating;
  dataset.before_since = sink.before_since;
  check_header_lines(sources, dataset);
  return dataset;
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
  Dataset dataset = path == "demo" ? load_demo(options) : read_files(path, options);
  keep_core(dataset, options.min_user_inter, options.min_item_inter);
  return dataset;
}

}  // namespace bet
