#include "train/state_file.h"

#include "base/error.h"

namespace bet {

bool StateFile::exists() const { return std::filesystem::exists(path); }

std::optional<Checkpoint> StateFile::read() const {
  if (!exists()) return std::nullopt;
  Checkpoint checkpoint = read_checkpoint(path);
  BET_CHECK(checkpoint.text("identity") == identity, path.string(),
            ": was written for other data or options");
  return checkpoint;
}

void StateFile::write(Checkpoint checkpoint) const {
  checkpoint.texts["identity"] = identity;
  write_checkpoint(checkpoint, path);
}

void StateFile::remove() const { std::filesystem::remove(path); }

}  // namespace bet
