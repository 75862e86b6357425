#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/growable.h"
#include "data/id_table.h"

namespace bet {

// Interactions by user: the items of user u are columns[offsets[u] .. offsets[u+1]), ascending and
// distinct.
struct Csr {
  std::vector<std::uint64_t> offsets = {0};
  Growable<ItemId> columns;

  std::uint32_t num_rows() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  std::uint64_t num_entries() const { return offsets.back(); }
  std::span<const ItemId> row(UserId user) const {
    return columns.span().subspan(offsets[user], offsets[user + 1] - offsets[user]);
  }
};

// What a log becomes: rows, and beside each column what the reader was asked to keep of it.
struct LoggedRows {
  Csr csr;
  std::vector<bool> in_test;  // with parts: the pair stands in the test part only
  Growable<double> times;     // with times: the pair's earliest time
  std::uint64_t duplicates = 0;
};

// The pairs of a file in the order read, in 7 bytes each (8 past 2^24 users; 8 more with times), and
// turned into sorted rows in place, so that reading n lines never holds more than that.
class InteractionLog {
 public:
  struct Options {
    bool with_parts = false;  // pairs carry a train/test mark; items are limited to 2^31 then
    bool with_times = false;
    std::uint64_t max_count = 0xffffffffU;
  };
  explicit InteractionLog(const Options& options) : options_(options) {}

  void add(UserId user, ItemId item, bool in_test, double time) {
    check_room(item);
    items_.push_back(options_.with_parts ? item << 1 | static_cast<ItemId>(in_test) : item);
    user_low_.push_back(static_cast<std::uint16_t>(user));
    user_middle_.push_back(static_cast<std::uint8_t>(user >> 16));
    if (user >> 24 != 0 || user_high_.size() > 0) add_high(user);
    if (options_.with_times) times_.push_back(time);
  }

  std::uint64_t size() const { return items_.size(); }

  // Renumbers users and items by the given maps, groups by user, sorts, merges duplicates. A pair
  // of both parts counts as train. The log is empty afterwards.
  LoggedRows finish(std::span<const std::uint32_t> new_user, std::span<const std::uint32_t> new_item);

 private:
  void check_room(ItemId item) const;
  void add_high(UserId user);
  UserId user(std::uint64_t entry) const;
  void set_user(std::uint64_t entry, UserId user);
  void swap_entries(std::uint64_t a, std::uint64_t b);
  void renumber(std::span<const std::uint32_t> new_user, std::span<const std::uint32_t> new_item);
  void group_by_user(const std::vector<std::uint64_t>& offsets);
  std::uint64_t merge_row(std::uint64_t begin, std::uint64_t end, std::uint64_t out);
  void sort_row(std::uint64_t begin, std::uint64_t end);

  Options options_;
  Growable<ItemId> items_;  // with parts: item * 2 + in_test
  Growable<std::uint16_t> user_low_;
  Growable<std::uint8_t> user_middle_;
  Growable<std::uint8_t> user_high_;  // empty while all users are below 2^24
  Growable<double> times_;
};

}  // namespace bet
