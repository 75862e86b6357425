#include "run/run_folder.h"

#include <chrono>
#include <ctime>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace fs = std::filesystem;

RunFolder::RunFolder(fs::path path) : files_{std::move(path)} {
  log_.open(files_.log(), std::ios::app);
  BET_CHECK(log_.good(), files_.log().string(), ": cannot write: ", system_message());
}

void RunFolder::check_free(const fs::path& path, bool overwrite) {
  if (!fs::exists(path)) return;
  BET_CHECK(overwrite, path.string(), ": exists already; --overwrite replaces it, `bet resume ",
            path.string(), "` continues it");
  BET_CHECK(fs::exists(RunFiles{path}.config()) || fs::is_empty(path), path.string(),
            ": is not a run folder; it is not overwritten");
}

RunFolder RunFolder::create(const fs::path& path, bool overwrite) {
  check_free(path, overwrite);
  remove_tree(path);
  std::error_code error;
  fs::create_directories(RunFiles{path}.checkpoints().folder, error);
  BET_CHECK(!error, path.string(), ": cannot make the folder: ", error.message());
  return RunFolder(path);
}

RunFolder RunFolder::open(const fs::path& path) {
  const RunFiles files{path.filename() == RunFiles{}.model() ? path.parent_path() : path};
  BET_CHECK(fs::exists(files.config()), path.string(), ": is not a run folder (it has no ",
            RunFiles{}.config().string(), ")");
  return RunFolder(files.folder);
}

void RunFolder::keep_identity(const std::string& identity) const {
  const fs::path file = files_.identity();
  if (!fs::exists(file)) return write_file(file, identity);
  std::ifstream in(file, std::ios::binary);
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  BET_CHECK(kept == identity, path().string(), ": was started with other data or options");
}

void RunFolder::log(const std::string& line) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char stamp[32];
  std::tm utc{};
  std::strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  log_ << stamp << ' ' << line << std::endl;
}

}  // namespace bet
