#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/growable.h"

namespace bet {

// Index of a user or an item, 0 .. count-1.
using UserId = std::uint32_t;
using ItemId = std::uint32_t;

// The external ids of one side, sorted: as numbers where every id is a plain integer ("17", not
// "017"), else byte by byte. So the same interactions in any order of lines give the same indices.
// Immutable; any thread may read.
class IdTable {
 public:
  IdTable() = default;
  // The ids 0 .. count-1.
  static IdTable consecutive(std::uint32_t count);

  std::uint32_t size() const;
  std::string name(std::uint32_t index) const;
  std::optional<std::uint32_t> find(std::string_view id) const;

  // Only the given indices, which must ascend.
  IdTable subset(std::span<const std::uint32_t> kept) const;

 private:
  friend class IdBuilder;

  std::string_view text(std::uint32_t index) const;

  bool numeric_ = true;
  std::vector<std::uint64_t> numbers_;     // numeric tables
  std::vector<std::uint64_t> text_begin_;  // others: size() + 1 offsets into text_
  std::string text_;
};

// Collects ids while a file is read: each gets the next free index on first sight.
// Plain integers are kept as 8-byte numbers until the first id that is none.
class IdBuilder {
 public:
  // `what` ("users") names the side in errors; more than `max_count` ids are refused.
  IdBuilder(std::string what, std::uint64_t max_count);

  std::uint32_t index_of(std::string_view id);

  // The same where the caller knows that `id` is a plain integer, and which.
  std::uint32_t index_of(std::string_view id, std::uint64_t number) {
    return numeric_ ? index_of_number(number) : index_of_text(id);
  }

  std::uint32_t size() const { return count_; }

  struct Result {
    IdTable table;
    std::vector<std::uint32_t> new_index;  // by index as given out
  };
  // Sorts the ids. The builder is empty afterwards.
  Result finish();

 private:
  // Numbers below are looked up by place, at most 4 MiB a side; a hash table takes the others.
  static constexpr std::uint64_t kMaxDirect = std::uint64_t{1} << 20;

  std::uint32_t index_of_number(std::uint64_t number) {
    if (number < direct_.size() && direct_[number] != 0) return direct_[number] - 1;
    return number < kMaxDirect ? add_direct(number) : index_of_large(number);
  }
  std::uint32_t add_direct(std::uint64_t number);
  std::uint32_t index_of_large(std::uint64_t number);
  std::uint32_t index_of_text(std::string_view id);
  std::uint32_t add();
  void grow_slots();
  void become_text();
  std::string_view text(std::uint32_t index) const;

  std::string what_;
  std::uint64_t max_count_;
  std::uint32_t count_ = 0;
  bool numeric_ = true;
  Growable<std::uint64_t> numbers_;
  Growable<std::uint64_t> text_end_;
  Growable<char> text_;
  std::vector<std::uint32_t> direct_;  // by number, for small ones: index + 1 or 0
  std::vector<std::uint32_t> slots_;  // all others: open addressing, a power of two, index + 1 or 0
  std::uint32_t last_ = 0;            // index found last: files are often grouped by user
};

}  // namespace bet
