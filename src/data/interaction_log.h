#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
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

// The pairs of a file in the order read, in 7 bytes each (8 past 2^24 users; 8 more with times),
// and turned into sorted rows in place, so that reading n lines never holds more than that.
class InteractionLog {
  static_assert(std::endian::native == std::endian::little);

 public:
  struct Options {
    bool with_parts = false;  // pairs carry a train/test mark; items are limited to 2^31 then
    bool with_times = false;
    std::uint64_t max_count = 0xffffffffU;
  };
  explicit InteractionLog(const Options& options) : options_(options) {}

  void add(UserId user, ItemId item, bool in_test, double time) {
    check_room(user, item);
    if (options_.with_parts) item = item << 1 | static_cast<ItemId>(in_test);
    // All 8 bytes at once: what is behind the last pair is free.
    const Pair value = Pair{user} << 32 | item;
    std::memcpy(place(count_++), &value, sizeof(value));
    if (options_.with_times) times_.push_back(time);
  }

  std::uint64_t size() const { return count_; }

  // Whether the user of this pair, or its item, is in another one too. Looks at every pair until
  // one is found.
  bool occurs_again(std::uint64_t entry);

  // Renumbers users and items by the given maps, groups by user, sorts, merges duplicates. A pair
  // of both parts counts as train. The log is empty afterwards.
  LoggedRows finish(std::span<const std::uint32_t> new_user,
                    std::span<const std::uint32_t> new_item);

 private:
  // The user in the upper half, the item (with parts: item * 2 + in_test) in the lower.
  using Pair = std::uint64_t;

  unsigned char* place(std::uint64_t entry) {
    return reinterpret_cast<unsigned char*>(words_.data()) + entry * width_;
  }
  Pair pair(std::uint64_t entry) {
    Pair value = 0;
    std::memcpy(&value, place(entry), sizeof(value));
    return value & mask_;
  }
  // In two overlapping halves: neither touches a neighbour.
  void set_pair(std::uint64_t entry, Pair value) {
    const std::size_t second = width_ - 4;
    const auto low = static_cast<std::uint32_t>(value);
    const auto high = static_cast<std::uint32_t>(value >> (8 * second));
    std::memcpy(place(entry), &low, sizeof(low));
    std::memcpy(place(entry) + second, &high, sizeof(high));
  }

  void check_room(UserId user, ItemId item) {
    if (count_ == room_ || user >> 24 != 0 || item >> 31 != 0) [[unlikely]] {
      make_room(user, item);
    }
  }
  void make_room(UserId user, ItemId item);
  void widen();
  void renumber(std::span<const std::uint32_t> new_user, std::span<const std::uint32_t> new_item,
                std::vector<std::uint64_t>& row_sizes);
  void distribute(std::span<const std::uint64_t> begins, int shift);
  std::uint64_t write_rows(std::span<const Pair> pairs, std::span<const double> times,
                           std::uint64_t out, LoggedRows& rows);

  Options options_;
  std::uint64_t count_ = 0;
  std::uint64_t room_ = 0;           // pairs that fit before more memory or an error is due
  std::size_t width_ = 7;            // bytes of a pair; 8 past 2^24 users
  Pair mask_ = (Pair{1} << 56) - 1;  // of a pair's bytes
  Growable<ItemId> words_;           // packed pairs, little-endian; later the items
  Growable<double> times_;
};

}  // namespace bet
