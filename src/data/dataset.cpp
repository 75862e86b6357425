#include "data/dataset.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <memory>
#include <utility>

#include "base/error.h"
#include "base/hex.h"

namespace bet {
namespace {

void hash_ids(XXH3_state_t* state, const IdTable& ids) {
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    const std::string id = ids.name(i);
    // With the NUL, so that "1", "23" and "12", "3" differ.
    XXH3_128bits_update(state, id.c_str(), id.size() + 1);
  }
}

// One round of the k-core: returns whether anything was dropped. A dropped user's row becomes
// empty; a dropped item is removed from every row.
bool drop_once(Dataset& data, std::vector<bool>& user_kept, std::vector<bool>& item_kept,
               std::uint64_t min_user, std::uint64_t min_item) {
  Interactions& rows = data.interactions;
  std::vector<std::uint64_t> item_count(data.num_items(), 0);
  for (const ItemId item : rows.columns.span()) ++item_count[item];
  bool changed = false;
  for (ItemId item = 0; item < data.num_items(); ++item) {
    if (item_kept[item] && item_count[item] < min_item) {
      item_kept[item] = false;
      changed = true;
    }
  }
  std::vector<std::uint64_t>& offsets = rows.offsets;
  std::uint64_t out = 0;
  for (UserId user = 0; user < data.num_users(); ++user) {
    const std::uint64_t begin = offsets[user];
    offsets[user] = out;
    for (std::uint64_t i = begin; i < offsets[user + 1]; ++i) {
      const ItemId item = rows.columns[i];
      if (!item_kept[item]) continue;
      rows.columns[out] = item;
      if (!rows.in_test.empty()) rows.in_test[out] = rows.in_test[i];
      if (rows.times.size() > 0) rows.times[out] = rows.times[i];
      ++out;
    }
    if (user_kept[user] && out - offsets[user] < min_user) {
      user_kept[user] = false;
      changed = true;
      out = offsets[user];
    }
  }
  offsets.back() = out;
  rows.columns.shrink(out);
  if (!rows.in_test.empty()) rows.in_test.resize(out);
  if (rows.times.size() > 0) rows.times.shrink(out);
  return changed;
}

std::vector<std::uint32_t> kept_indices(const std::vector<bool>& kept) {
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) indices.push_back(static_cast<std::uint32_t>(i));
  }
  return indices;
}

}  // namespace

std::string Dataset::hash() const {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  BET_CHECK(state != nullptr, "out of memory for a hash");
  XXH3_128bits_reset(state.get());
  const std::uint32_t counts[2] = {num_users(), num_items()};
  XXH3_128bits_update(state.get(), counts, sizeof(counts));
  hash_ids(state.get(), users);
  hash_ids(state.get(), items);
  const auto update = [&](const auto* data, std::size_t count) {
    if (count > 0) XXH3_128bits_update(state.get(), data, count * sizeof(*data));
  };
  update(interactions.offsets.data(), interactions.offsets.size());
  update(interactions.columns.data(), interactions.columns.size());
  update(interactions.times.data(), interactions.times.size());
  for (const bool mark : interactions.in_test) {
    const char byte = mark ? 1 : 0;
    update(&byte, 1);
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state.get()));
  return hex_text(canonical.digest);
}

void keep_core(Dataset& dataset, std::uint64_t min_user, std::uint64_t min_item) {
  if (min_user == 0 && min_item == 0) return;
  std::vector<bool> user_kept(dataset.num_users(), true);
  std::vector<bool> item_kept(dataset.num_items(), true);
  while (drop_once(dataset, user_kept, item_kept, min_user, min_item)) {
  }
  BET_CHECK(dataset.num_interactions() > 0, dataset.name, ": nothing remains of ",
            dataset.num_users(), " users and ", dataset.num_items(),
            " items with --min-user-inter ", min_user, " and --min-item-inter ", min_item);

  const std::vector<std::uint32_t> users = kept_indices(user_kept);
  const std::vector<std::uint32_t> items = kept_indices(item_kept);
  std::vector<std::uint64_t> offsets = {0};
  for (const UserId user : users) offsets.push_back(dataset.interactions.offsets[user + 1]);
  dataset.interactions.offsets = std::move(offsets);
  std::vector<ItemId> new_item(dataset.num_items(), 0);
  for (std::size_t i = 0; i < items.size(); ++i) new_item[items[i]] = static_cast<ItemId>(i);
  for (ItemId& item : dataset.interactions.columns.span()) item = new_item[item];
  dataset.users = dataset.users.subset(users);
  dataset.items = dataset.items.subset(items);
}

}  // namespace bet
