#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/growable.h"
#include "data/id_table.h"
#include "data/interaction_log.h"

namespace bet {

// Who interacted with what: external ids and one row of distinct items per user. Users and items
// are numbered in the order of their ids (IdTable). Ratings have done their work while reading.
struct Dataset {
  std::string name;
  std::string format;   // as detected: "lightgcn", "csv", ...
  bool header = false;  // the source's first line was taken as a header
  // Which columns were taken, for people (describe_columns()); empty for what was not read.
  std::string columns;
  IdTable users;
  IdTable items;
  Csr interactions;
  std::uint64_t duplicates = 0;        // pairs that stood in the source more than once, merged
  std::uint64_t below_min_rating = 0;  // lines left out by --min-rating
  std::vector<bool> in_test;           // by entry: in the source's test part; empty without parts
  Growable<double> times;              // by entry; empty unless asked for

  std::uint32_t num_users() const { return users.size(); }
  std::uint32_t num_items() const { return items.size(); }
  std::uint64_t num_interactions() const { return interactions.num_entries(); }
  bool has_test_part() const { return !in_test.empty(); }

  // 32 hexadecimal digits over ids and pairs (times and parts where they are held): the same for
  // any line order, file format or compression.
  std::string hash() const;
};

// Drops users with fewer than `min_user` and items with fewer than `min_item` interactions, again
// and again until none is left to drop (the k-core). Throws if nothing remains.
void keep_core(Dataset& dataset, std::uint64_t min_user, std::uint64_t min_item);

}  // namespace bet
