#pragma once

#include <cstdint>
#include <string>

#include "data/id_table.h"
#include "data/interactions.h"

namespace bet {

// Who interacted with what: external ids and one row of distinct items per user. Users and items
// are numbered in the order of their ids (IdTable). Ratings are not kept: they only decide which
// lines are read (ReadOptions::min_rating).
struct Dataset {
  std::string name;
  std::string format;   // as detected: "lightgcn", "csv", ...
  bool header = false;  // the source's first line was taken as a header
  // Which columns were used, as describe_columns() puts it; empty for a made-up data set.
  std::string columns;
  IdTable users;
  IdTable items;
  Interactions interactions;  // empty once make_split() has taken them
  // "users", "items" or "users, items": the sides whose ids were given as texts although all of
  // them are integers (base/integer_text.h). Files do not tell, and are taken to have integers.
  std::string text_ids;
  bool has_test_part = false;          // the source marks a test part of its own
  std::uint64_t duplicates = 0;        // repeated pairs of the source, merged
  std::uint64_t below_min_rating = 0;  // lines left out by --min-rating
  std::uint64_t before_since = 0;      // lines left out by their time

  std::uint32_t num_users() const { return users.size(); }
  std::uint32_t num_items() const { return items.size(); }
  std::uint64_t num_interactions() const { return interactions.num_entries(); }

  // 32 hexadecimal digits over ids and pairs, and over times and parts where they are held: the
  // same for any line order, file format or compression.
  std::string hash() const;
};

// Reduces the data set to its k-core: drops users with fewer than `min_user` and items with fewer
// than `min_item` interactions until there are none of either. Throws if nothing remains.
void keep_core(Dataset& dataset, std::uint64_t min_user, std::uint64_t min_item);

}  // namespace bet
