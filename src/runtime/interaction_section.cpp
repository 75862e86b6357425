#include "runtime/interaction_section.h"

#include <algorithm>

namespace bet {
namespace {

constexpr std::uint32_t kListsPerBlock = 32;
constexpr std::string_view kInteractions = "interactions";

}  // namespace

InteractionSection::InteractionSection(Bytes bytes, std::uint32_t num_users,
                                       std::uint32_t num_items)
    : num_users_(num_users), item_degrees_(num_items) {
  ByteReader reader(bytes, kInteractions);
  begins_ =
      reader.take(4 * ((std::uint64_t{num_users} + kListsPerBlock - 1) / kListsPerBlock)).data();
  ByteReader lists(reader.rest(), kInteractions);
  lists_ = lists.rest().data();
  for (std::uint32_t user = 0; user < num_users; ++user) {
    BET_CHECK(user % kListsPerBlock != 0 ||
                  load<std::uint32_t>(begins_ + 4 * (user / kListsPerBlock)) == lists.at(),
              kInteractions, ": the list of user row ", user, " is not where the index says");
    const std::uint32_t count = lists.base128();
    BET_CHECK(count <= num_items, kInteractions, ": user row ", user, " has ", count, " of ",
              num_items, " items");
    std::uint64_t item = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      item += std::uint64_t{lists.base128()} + (i > 0 ? 1 : 0);
      BET_CHECK(item < num_items, kInteractions, ": user row ", user, " has item row ", item,
                " of ", num_items);
      ++item_degrees_[static_cast<std::size_t>(item)];
    }
    longest_ = std::max(longest_, count);
    num_interactions_ += count;
  }
  lists.expect_end();
}

std::uint32_t InteractionSection::decode(const std::byte*& at, std::uint32_t* items) {
  const std::uint32_t count = load_base128(at);
  std::uint32_t item = 0xffffffffU;  // so that the first one is the stored number itself
  for (std::uint32_t i = 0; i < count; ++i) {
    item += load_base128(at) + 1;
    items[i] = item;
  }
  return count;
}

std::vector<std::uint32_t> InteractionSection::items_of(std::uint32_t user) const {
  const std::byte* at = lists_ + load<std::uint32_t>(begins_ + 4 * (user / kListsPerBlock));
  std::vector<std::uint32_t> items(longest_);
  for (std::uint32_t skip = user % kListsPerBlock; skip > 0; --skip) decode(at, items.data());
  items.resize(decode(at, items.data()));
  return items;
}

std::string encode_interactions(std::span<const std::vector<std::uint32_t>> items_of) {
  std::string begins;
  std::string lists;
  for (std::size_t user = 0; user < items_of.size(); ++user) {
    BET_CHECK(lists.size() <= 0xffffffffU, "interactions of more than 4 GiB");
    if (user % kListsPerBlock == 0) append(begins, static_cast<std::uint32_t>(lists.size()));
    append_base128(lists, static_cast<std::uint32_t>(items_of[user].size()));
    std::uint32_t last = 0xffffffffU;
    for (const std::uint32_t item : items_of[user]) {
      append_base128(lists, item - last - 1);
      last = item;
    }
  }
  return begins + lists;
}

}  // namespace bet
