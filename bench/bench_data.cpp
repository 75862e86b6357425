#include "bench_data.h"

#include <cstdio>

#include "data/load.h"
#include "data/synthetic.h"

namespace bet::bench {
namespace {

std::filesystem::path& path_setting() {
  static std::filesystem::path path =
      std::filesystem::path(BET_SOURCE_DIR) / "../shared/data/gowalla";
  return path;
}

std::filesystem::path& csv_setting() {
  static std::filesystem::path path;
  return path;
}

std::filesystem::path temporary(const char* name) {
  return std::filesystem::temp_directory_path() / name;
}

}  // namespace

void set_data_path(const std::filesystem::path& path) { path_setting() = path; }

std::filesystem::path data_path() {
  if (std::filesystem::exists(path_setting())) return path_setting();
  const std::filesystem::path made_up = temporary("bet-bench-synthetic.csv");
  if (!std::filesystem::exists(made_up)) {
    std::fprintf(stderr, "bench: no %s; using made-up data of its size\n", path_setting().c_str());
    write_interactions(synthetic_dataset({29'858, 40'981, 1'027'370, 200, 1}), made_up);
  }
  return made_up;
}

const Dataset& dataset() {
  static const Dataset loaded = load_dataset(data_path());
  return loaded;
}

void set_csv_path(const std::filesystem::path& path) { csv_setting() = path; }

std::filesystem::path csv_path() {
  if (csv_setting().empty()) {
    const std::filesystem::path csv = temporary("bet-bench.csv");
    write_interactions(dataset(), csv);
    set_csv_path(csv);
  }
  return csv_setting();
}

}  // namespace bet::bench
