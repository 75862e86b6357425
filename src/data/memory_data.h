#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/interaction_log.h"
#include "data/load.h"

namespace bet {

// Makes a data set of interactions that a caller has in memory, and not in a file: the same
// interactions give the same data set as a file of them. One thread at a time.
class MemoryData {
 public:
  // Of the options, those about formats and columns do not matter.
  explicit MemoryData(const ReadOptions& options);

  // Whether an interaction with this rating is left out; it is counted then, and must not be added.
  bool leaves_out(double rating);

  // The index of a user or item, by its id. Throws on an empty or too long text.
  std::uint32_t user(std::string_view id) { return index_of(users_, id, "user"); }
  std::uint32_t user(std::int64_t id) { return index_of(users_, id); }
  std::uint32_t item(std::string_view id) { return index_of(items_, id, "item"); }
  std::uint32_t item(std::int64_t id) { return index_of(items_, id); }

  // `time` counts only where times are kept.
  void add(std::uint32_t user, std::uint32_t item, double time) {
    log_.add(user, item, false, time);
  }

  // How the ids were given, for Dataset::text_ids.
  struct GivenAsTexts {
    bool users = false;
    bool items = false;
  };
  // Throws if there are no interactions.
  Dataset finish(const std::string& name, GivenAsTexts texts);

 private:
  static std::uint32_t index_of(IdBuilder& builder, std::string_view id, std::string_view what);
  static std::uint32_t index_of(IdBuilder& builder, std::int64_t id);

  ReadOptions options_;
  IdBuilder users_, items_;
  InteractionLog log_;
  std::uint64_t below_min_rating_ = 0;
};

}  // namespace bet
