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

// The external ids of one side (users or items), sorted: as numbers where every id is a plain
// integer ("17", not "017"), else by bytes. So the same interactions give the same indices for any
// order of lines. Immutable; any thread may read.
class IdTable {
 public:
  IdTable() = default;
  // The ids 0 .. count-1.
  static IdTable consecutive(std::uint32_t count);

  std::uint32_t size() const;
  std::string name(std::uint32_t index) const;
  std::optional<std::uint32_t> find(std::string_view id) const;

  // The table of the given indices only, which must ascend.
  IdTable subset(std::span<const std::uint32_t> kept) const;

 private:
  friend class IdBuilder;

  std::string_view text(std::uint32_t index) const;

  bool numeric_ = true;
  std::vector<std::uint64_t> numbers_;     // numeric tables
  std::vector<std::uint64_t> text_begin_;  // others: size() + 1 offsets into text_
  std::string text_;
};

// Collects ids while a file is read: each new id gets the next free index. Ids are held as 8-byte
// numbers until the first one that is not a plain integer. One thread at a time.
class IdBuilder {
 public:
  // `what` ("users") names the side in errors; more than `max_count` ids are refused.
  IdBuilder(std::string what, std::uint64_t max_count);

  std::uint32_t index_of(std::string_view id);

  // The same where the caller knows that `id` is the plain integer `number`.
  std::uint32_t index_of(std::string_view id, std::uint64_t number) {
    return numeric_ ? index_of_number(number) : index_of_text(id);
  }

  // The same for the id that is this number.
  std::uint32_t index_of(std::uint64_t number);

  std::uint32_t size() const { return count_; }

  struct Result {
    IdTable table;
    std::vector<std::uint32_t> new_index;  // in the table, by the index that index_of() returned
  };
  // Sorts the ids. The builder is empty afterwards.
  Result finish();

 private:
  // Smaller numbers are looked up in an array of at most 4 MiB, all others in a hash table.
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
  std::vector<std::uint32_t> direct_;  // by number, below kMaxDirect: index + 1, or 0 for none
  std::vector<std::uint32_t> slots_;   // hash table with open addressing: index + 1, or 0 for none
  std::uint32_t last_ = 0;             // the index found last: files are often grouped by user
};

}  // namespace bet
