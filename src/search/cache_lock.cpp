#include "search/cache_lock.h"

#include <chrono>
#include <thread>

#include "base/error.h"

namespace bet {

std::optional<FileLock> lock_cached(const StateFile& file, std::string_view does,
                                    const TrainingHooks& hooks) {
  const std::filesystem::path path = file.path.string() + ".lock";
  const auto log = [&](const std::string& text) {
    if (hooks.log) hooks.log(text);
  };
  try {
    std::filesystem::create_directories(path.parent_path());
    for (bool waits = false;; waits = true) {
      if (std::optional<FileLock> lock = FileLock::take(path)) return lock;
      const std::string text = str_cat("waiting for ", FileLock::holder(path), ", which ", does);
      if (!waits) log(text);
      if (hooks.progress) hooks.progress({"train", 0, 1, text});
      if ((hooks.leave && hooks.leave()) || (hooks.stop && hooks.stop())) {
        throw Interrupted("stopped before the end");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    log(std::string("the cache was not locked: ") + error.what());
  }
  return std::nullopt;
}

}  // namespace bet
