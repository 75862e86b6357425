#pragma once

#include <optional>
#include <string_view>

#include "base/file_lock.h"
#include "train/state_file.h"
#include "train/training_hooks.h"

namespace bet {

// The lock on a file of the cache: a process that makes it now, which `does` describes ("trains the
// same model"), is waited for. None, and a line in the log, where the cache cannot be locked.
// Throws Interrupted if hooks.stop or hooks.leave ends the waiting.
std::optional<FileLock> lock_cached(const StateFile& file, std::string_view does,
                                    const TrainingHooks& hooks);

}  // namespace bet
