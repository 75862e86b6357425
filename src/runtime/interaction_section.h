#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bits.h"

namespace bet {

// How the lists are stored; docs/format.md has both forms.
enum class ListForm : std::uint8_t { kBytes = 0, kBits = 1 };
constexpr std::array<std::string_view, 2> kListFormNames = {"bytes", "bits"};
constexpr std::string_view list_form_name(ListForm form) {
  return kListFormNames[static_cast<std::size_t>(form)];
}

// Parameters of the form "bits": by the number of bits of a list's length, minus 1, and by the
// eighth of the list.
using ListParameters = std::vector<std::array<std::uint8_t, 8>>;

// The items of each user, by row, which are also the edges of the graph. A view: the bytes must
// outlive it.
class InteractionSection {
 public:
  InteractionSection() = default;
  // Throws unless every rule of docs/format.md holds.
  InteractionSection(Bytes bytes, ListForm form, std::uint32_t num_users, std::uint32_t num_items);

  // Ascending.
  std::vector<std::uint32_t> items_of(std::uint32_t user) const;

  std::uint64_t num_interactions() const { return num_interactions_; }
  // How many users each item has.
  const std::vector<std::uint32_t>& item_degrees() const { return item_degrees_; }

  // Calls visit(user, items) for every user, in order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    std::vector<std::uint32_t> items(longest_);
    ListReader reader(*this, 0);
    for (std::uint32_t user = 0; user < num_users_; ++user) {
      visit(user, std::span<const std::uint32_t>(items.data(), reader.next(items.data())));
    }
  }

 private:
  // Decodes the lists from a block on, which have been checked before.
  class ListReader {
   public:
    ListReader(const InteractionSection& section, std::uint32_t block);
    // Returns the length of the list.
    std::uint32_t next(std::uint32_t* items);

   private:
    std::uint32_t next_of_bits(std::uint32_t* items);

    const InteractionSection& section_;
    const std::byte* at_;         // form "bytes"
    TrustedBitReader bits_;       // form "bits", as the rest
    std::uint32_t in_block_ = 0;  // lists of the block that have been read
    std::uint32_t length_ = 0;    // of the list before
  };

  void check_bytes();
  void check_bits();
  void check_begin(std::uint32_t user, std::uint64_t at) const;
  // Checks and counts the items of a list, whose distances next_distance() returns.
  template <typename NextDistance>
  void check_list(std::uint32_t user, std::int64_t count, const NextDistance& next_distance);

  ListForm form_ = ListForm::kBytes;
  std::uint32_t num_users_ = 0;
  const std::byte* begins_ = nullptr;  // u32 each
  Bytes lists_;
  ListParameters parameters_;  // form "bits"
  std::uint32_t longest_ = 0;
  std::uint64_t num_interactions_ = 0;
  std::vector<std::uint32_t> item_degrees_;
};

struct EncodedInteractions {
  ListForm form = ListForm::kBytes;
  std::string bytes;
};

// By user row; item rows ascending and below num_items. Takes the form "bits" where that is smaller
// by kWorthBits bytes or more.
EncodedInteractions encode_interactions(std::span<const std::vector<std::uint32_t>> items_of,
                                        std::uint32_t num_items);

// Sections begin at multiples of 64 bytes, so that less would hardly make a file smaller, and
// programs that do not know the form could not read it.
constexpr std::size_t kWorthBits = 64;

}  // namespace bet
