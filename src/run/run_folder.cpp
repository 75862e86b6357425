#include "run/run_folder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <optional>

#include "base/error.h"
#include "base/files.h"

namespace bet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarker = "a run folder of bet\n";

std::string first_bytes(const fs::path& path, std::size_t count) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(count, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

// Whether the folder says itself that it is a run. Earlier versions made no marker; their runs are
// known by the hash of the data.
bool is_run(const fs::path& path) {
  const RunFiles files{path};
  if (first_bytes(files.marker(), kMarker.size()) == kMarker) return true;
  constexpr std::size_t kHashDigits = 32;
  const std::string hash = first_bytes(files.identity(), kHashDigits);
  return fs::exists(files.config()) && hash.size() == kHashDigits &&
         hash.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The files that bet makes in a folder, also those that an interrupted process may leave.
bool is_own(const RunFiles& files, const fs::path& path) {
  const CheckpointFiles checkpoints = files.checkpoints();
  const std::array own = {files.marker(),
                          files.config(),
                          files.identity(),
                          files.log(),
                          files.report(),
                          files.page(),
                          files.model(),
                          files.test_hits(),
                          files.trials(),
                          files.standard_input(),
                          checkpoints.pretraining(),
                          checkpoints.method(),
                          checkpoints.retraining(),
                          checkpoints.final_model()};
  if (path == checkpoints.folder) return fs::is_directory(fs::symlink_status(path));
  if (!fs::is_regular_file(fs::symlink_status(path))) return false;
  return std::any_of(own.begin(), own.end(), [&](const fs::path& one) {
    const std::string name = one.string();
    const std::string text = path.string();
    if (!text.starts_with(name)) return false;
    const std::string rest = text.substr(name.size());
    const bool of_database =
        one == files.trials() && (rest == "-wal" || rest == "-shm" || rest == "-journal");
    return rest.empty() || rest.starts_with(".tmp") || of_database;
  });
}

// All that is in the folder of a run, the folders after what is in them. Throws, naming it, on
// anything that bet did not make.
std::vector<fs::path> own_files(const RunFiles& files) {
  std::vector<fs::path> found;
  const auto add_all_in = [&](const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      BET_CHECK(is_own(files, entry.path()), files.folder.string(), ": has ",
                in_quotes(entry.path().lexically_relative(files.folder).string()),
                ", which bet did not make; the folder is not overwritten");
      found.push_back(entry.path());
    }
  };
  const fs::path checkpoints = files.checkpoints().folder;
  if (fs::is_directory(fs::symlink_status(checkpoints))) add_all_in(checkpoints);
  add_all_in(files.folder);
  return found;
}

FileLock lock_run(const RunFiles& files) {
  std::optional<FileLock> lock = FileLock::take(files.marker(), kMarker);
  BET_CHECK(lock.has_value(), files.folder.string(), ": is in use by ",
            FileLock::holder(files.marker()));
  return *std::move(lock);
}

void refuse_existing(const fs::path& path) {
  fail(path.string(), ": exists already; --overwrite replaces it, `bet resume ", path.string(),
       "` continues it");
}

}  // namespace

RunFolder::RunFolder(fs::path path) : files_{std::move(path)}, lock_(lock_run(files_)) {}

void RunFolder::check_free(const fs::path& path, bool overwrite) {
  if (!fs::exists(path)) return;
  BET_CHECK(fs::is_directory(path), path.string(), ": is not a folder");
  if (!overwrite) refuse_existing(path);
  if (fs::is_empty(path)) return;
  BET_CHECK(is_run(path), path.string(), ": is not a run folder of bet; it is not overwritten");
  own_files({path});
}

RunFolder RunFolder::create(const fs::path& path, bool overwrite) {
  check_free(path, overwrite);
  std::error_code error;
  fs::create_directories(path, error);
  BET_CHECK(!error, path.string(), ": cannot make the folder: ", error.message());
  RunFolder run(path);
  // Nobody else can change it from here on; before the lock another process may have.
  for (const fs::path& own : own_files(run.files_)) {
    if (own == run.files_.marker()) continue;
    if (!overwrite) refuse_existing(path);
    fs::remove(own);
  }
  fs::create_directories(run.files_.checkpoints().folder, error);
  BET_CHECK(!error, path.string(), ": cannot make the folder: ", error.message());
  return run;
}

RunFiles RunFolder::find(const fs::path& path) {
  RunFiles files{path.filename() == RunFiles{}.model() ? path.parent_path() : path};
  if (fs::exists(files.config())) return files;
  BET_CHECK(!fs::exists(files.marker()), path.string(),
            ": this run was interrupted before it began; start it again with `bet fit ... "
            "--overwrite`");
  fail_as(fs::exists(path) ? ErrorKind::kBadInput : ErrorKind::kNotFound, path.string(),
          ": is not a run folder (it has no ", RunFiles{}.config().string(), ")");
}

RunFolder RunFolder::open(const fs::path& path) { return RunFolder(find(path).folder); }

void RunFolder::keep_identity(const std::string& identity) const {
  const fs::path file = files_.identity();
  if (!fs::exists(file)) return write_file(file, identity);
  std::ifstream in(file, std::ios::binary);
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  BET_CHECK(kept == identity, path().string(), ": was started with other data or options");
}

void RunFolder::log(const std::string& line) {
  if (!log_.is_open()) {
    log_.open(files_.log(), std::ios::app);
    BET_CHECK(log_.good(), files_.log().string(), ": cannot write: ", system_message());
  }
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char stamp[32];
  std::tm utc{};
  std::strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  log_ << stamp << ' ' << line << std::endl;
}

}  // namespace bet
