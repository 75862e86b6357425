#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bytes.h"

namespace bet {

// The items of each user, by row, which are also the edges of the graph. A view: the bytes must
// outlive it.
class InteractionSection {
 public:
  InteractionSection() = default;
  // Throws unless every rule of docs/format.md holds.
  InteractionSection(Bytes bytes, std::uint32_t num_users, std::uint32_t num_items);

  // Ascending.
  std::vector<std::uint32_t> items_of(std::uint32_t user) const;

  std::uint64_t num_interactions() const { return num_interactions_; }
  // How many users each item has.
  const std::vector<std::uint32_t>& item_degrees() const { return item_degrees_; }

  // Calls visit(user, items) for every user, in order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    std::vector<std::uint32_t> items(longest_);
    const std::byte* at = lists_;
    for (std::uint32_t user = 0; user < num_users_; ++user) {
      visit(user, std::span<const std::uint32_t>(items.data(), decode(at, items.data())));
    }
  }

 private:
  // Decodes one list, which has been checked before; returns its length and advances `at`.
  static std::uint32_t decode(const std::byte*& at, std::uint32_t* items);

  std::uint32_t num_users_ = 0;
  const std::byte* begins_ = nullptr;  // u32 each
  const std::byte* lists_ = nullptr;
  std::uint32_t longest_ = 0;
  std::uint64_t num_interactions_ = 0;
  std::vector<std::uint32_t> item_degrees_;
};

// By user row; item rows ascending.
std::string encode_interactions(std::span<const std::vector<std::uint32_t>> items_of);

}  // namespace bet
