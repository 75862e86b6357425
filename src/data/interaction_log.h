#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/growable.h"
#include "data/id_table.h"
#include "data/interactions.h"

namespace bet {

// What finish() makes of a log.
struct LoggedRows {
  Interactions interactions;
  std::uint64_t duplicates = 0;  // pairs merged into an equal one
};

// The pairs of a file in the order read, in 7 bytes each (8 past 2^24 users; 8 more with times).
// finish() turns them into sorted rows in place, so reading n lines never takes more than that.
class InteractionLog {
  static_assert(std::endian::native == std::endian::little);

 public:
  struct Options {
    bool with_parts = false;  // pairs carry a train/test mark; items are limited to 2^31 then
    bool with_times = false;
    std::uint64_t max_count = 0xffffffffU;  // more pairs are refused
  };
  explicit InteractionLog(const Options& options) : options_(options) {}

  // `in_test` counts only with parts, `time` only with times.
  void add(UserId user, ItemId item, bool in_test, double time) {
    check_room(user, item);
    if (options_.with_parts) item = item << 1 | static_cast<ItemId>(in_test);
    // All 8 bytes at once: the bytes behind the last pair are free.
    const Pair value = Pair{user} << 32 | item;
    std::memcpy(address(count_++), &value, sizeof(value));
    if (options_.with_times) times_.push_back(time);
  }

  std::uint64_t size() const { return count_; }

  // Whether another pair has the same user or the same item as this one. Linear in size().
  bool occurs_again(std::uint64_t entry);

  // Renumbers users and items by the given maps, groups the pairs by user, sorts them and merges
  // duplicates. A pair of both parts counts as train. The log is empty afterwards.
  LoggedRows finish(std::span<const std::uint32_t> new_user,
                    std::span<const std::uint32_t> new_item);

 private:
  // The user in the upper half, the item (with parts: item * 2 + in_test) in the lower.
  using Pair = std::uint64_t;

  // The pairs of one bucket while they are sorted; reused from bucket to bucket.
  struct SortBuffer {
    std::vector<Pair> pairs;
    std::vector<Pair> scratch;
    std::vector<double> times;
  };

  unsigned char* address(std::uint64_t entry) {
    return reinterpret_cast<unsigned char*>(storage_.data()) + entry * width_;
  }
  Pair pair(std::uint64_t entry) {
    Pair value = 0;
    std::memcpy(&value, address(entry), sizeof(value));
    return value & mask_;
  }
  // In two overlapping halves: neither touches a neighbour.
  void set_pair(std::uint64_t entry, Pair value) {
    const std::size_t second = width_ - 4;
    const auto low = static_cast<std::uint32_t>(value);
    const auto high = static_cast<std::uint32_t>(value >> (8 * second));
    std::memcpy(address(entry), &low, sizeof(low));
    std::memcpy(address(entry) + second, &high, sizeof(high));
  }

  void check_room(UserId user, ItemId item) {
    if (count_ == room_ || user >> 24 != 0 || item >> 31 != 0) [[unlikely]] {
      make_room(user, item);
    }
  }
  void make_room(UserId user, ItemId item);
  void widen();

  // The steps of finish(). A bucket holds the users u of one value of u >> shift.
  std::vector<std::uint64_t> renumber(std::span<const std::uint32_t> new_user,
                                      std::span<const std::uint32_t> new_item, int shift);
  void distribute(std::span<const std::uint64_t> bucket_begins, int shift);
  void sort_bucket(std::span<const std::uint64_t, 2> bounds, Pair first_user, int item_bits,
                   int user_bits, SortBuffer& buffer);
  std::uint64_t write_rows(const SortBuffer& sorted, std::uint64_t out, Interactions& rows);

  Options options_;
  std::uint64_t count_ = 0;
  std::uint64_t room_ = 0;           // pairs that fit before more memory or an error is due
  std::size_t width_ = 7;            // bytes of a pair; 8 past 2^24 users
  Pair mask_ = (Pair{1} << 56) - 1;  // the bits of a value that belong to the pair
  Growable<ItemId> storage_;         // packed pairs, little-endian; after finish() the items
  Growable<double> times_;
};

}  // namespace bet
