#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/rank_group.h"
#include "train/checkpoint.h"

namespace bet {

// A checkpoint file that belongs to one run: its text "identity" names the data and the options
// that decide its contents.
struct StateFile {
  std::filesystem::path path;
  std::string identity;
  // Not null: these ranks have the columns of each of its tables, `width` in all, and every call is
  // collective: rank 0 alone has the file (train/joined_checkpoint.h).
  RankGroup* ranks = nullptr;
  std::uint32_t width = 0;

  bool exists() const;  // on this machine
  // Nothing if the file does not exist. Throws if it is damaged or was written under another
  // identity.
  std::optional<Checkpoint> read() const;
  // Adds the identity; the file is replaced whole or not at all.
  void write(Checkpoint checkpoint) const;
  // Does nothing if the file does not exist.
  void remove() const;
};

// The state of this identity in a folder of cached ones: "<prefix>-<hash of the identity>.ckpt".
StateFile cached_state(const std::filesystem::path& folder, const std::string& prefix,
                       const std::string& identity);

}  // namespace bet
