#include "train/state_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

#include "base/error.h"
#include "train/joined_checkpoint.h"

namespace bet {

bool StateFile::exists() const { return std::filesystem::exists(path); }

std::optional<Checkpoint> StateFile::read() const {
  std::optional<Checkpoint> checkpoint;
  if (ranks != nullptr) {
    checkpoint = read_joined_checkpoint(width, *ranks, path);
  } else if (exists()) {
    checkpoint = read_checkpoint(path);
  }
  BET_CHECK(!checkpoint || checkpoint->text("identity") == identity, path.string(),
            ": was written for other data or options");
  return checkpoint;
}

void StateFile::write(Checkpoint checkpoint) const {
  checkpoint.texts["identity"] = identity;
  if (ranks != nullptr) {
    write_joined_checkpoint(checkpoint, width, *ranks, path);
  } else {
    write_checkpoint(checkpoint, path);
  }
}

void StateFile::remove() const {
  if (ranks == nullptr || ranks->rank() == 0) std::filesystem::remove(path);
}

StateFile cached_state(const std::filesystem::path& folder, const std::string& prefix,
                       const std::string& identity) {
  const XXH128_hash_t hash = XXH3_128bits(identity.data(), identity.size());
  char digits[64];
  std::snprintf(digits, sizeof(digits), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return {folder / (prefix + "-" + digits + ".ckpt"), identity};
}

}  // namespace bet
