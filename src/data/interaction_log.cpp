#include "data/interaction_log.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace bet {

void InteractionLog::check_room(ItemId item) const {
  BET_CHECK(items_.size() < options_.max_count, "more than ", options_.max_count, " interactions");
  BET_CHECK(!options_.with_parts || item >> 31 == 0, "more than ", 1U << 31,
            " items in data with given parts");
}

void InteractionLog::add_high(UserId user) {
  user_high_.resize(user_low_.size(), 0);  // the entries before the first such user
  user_high_[user_low_.size() - 1] = static_cast<std::uint8_t>(user >> 24);
}

UserId InteractionLog::user(std::uint64_t entry) const {
  const UserId high = user_high_.size() > 0 ? user_high_[entry] : 0U;
  return high << 24 | UserId{user_middle_[entry]} << 16 | user_low_[entry];
}

void InteractionLog::set_user(std::uint64_t entry, UserId user) {
  user_low_[entry] = static_cast<std::uint16_t>(user);
  user_middle_[entry] = static_cast<std::uint8_t>(user >> 16);
  if (user_high_.size() > 0) user_high_[entry] = static_cast<std::uint8_t>(user >> 24);
}

void InteractionLog::swap_entries(std::uint64_t a, std::uint64_t b) {
  std::swap(items_[a], items_[b]);
  std::swap(user_low_[a], user_low_[b]);
  std::swap(user_middle_[a], user_middle_[b]);
  if (user_high_.size() > 0) std::swap(user_high_[a], user_high_[b]);
  if (options_.with_times) std::swap(times_[a], times_[b]);
}

void InteractionLog::renumber(std::span<const std::uint32_t> new_user,
                              std::span<const std::uint32_t> new_item) {
  for (std::uint64_t entry = 0; entry < items_.size(); ++entry) {
    set_user(entry, new_user[user(entry)]);
    ItemId& item = items_[entry];
    item = options_.with_parts ? new_item[item >> 1] << 1 | (item & 1) : new_item[item];
  }
}

// American-flag sort: every entry is swapped straight to the next free place of its user's row.
void InteractionLog::group_by_user(const std::vector<std::uint64_t>& offsets) {
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
  for (UserId row = 0; row + 1 < offsets.size(); ++row) {
    while (next[row] < offsets[row + 1]) {
      const UserId owner = user(next[row]);
      if (owner == row) {
        ++next[row];
      } else {
        swap_entries(next[row], next[owner]++);
      }
    }
  }
}

void InteractionLog::sort_row(std::uint64_t begin, std::uint64_t end) {
  if (!options_.with_times) {
    if (!std::is_sorted(items_.data() + begin, items_.data() + end)) {
      std::sort(items_.data() + begin, items_.data() + end);
    }
    return;
  }
  std::vector<std::pair<ItemId, double>> row;
  row.reserve(end - begin);
  for (std::uint64_t i = begin; i < end; ++i) row.emplace_back(items_[i], times_[i]);
  std::sort(row.begin(), row.end());
  for (std::uint64_t i = begin; i < end; ++i) {
    items_[i] = row[i - begin].first;
    times_[i] = row[i - begin].second;
  }
}

// Sorts the row and moves its distinct entries to `out`; returns the end of what was written.
// The train mark (0) and the earlier time sort first, so the first of equals is the one to keep.
std::uint64_t InteractionLog::merge_row(std::uint64_t begin, std::uint64_t end, std::uint64_t out) {
  sort_row(begin, end);
  const int shift = options_.with_parts ? 1 : 0;
  const std::uint64_t row_begin = out;
  for (std::uint64_t i = begin; i < end; ++i) {
    if (out > row_begin && items_[out - 1] >> shift == items_[i] >> shift) continue;
    items_[out] = items_[i];
    if (options_.with_times) times_[out] = times_[i];
    ++out;
  }
  return out;
}

LoggedRows InteractionLog::finish(std::span<const std::uint32_t> new_user,
                                  std::span<const std::uint32_t> new_item) {
  renumber(new_user, new_item);
  std::vector<std::uint64_t> offsets(new_user.size() + 1, 0);
  for (std::uint64_t entry = 0; entry < items_.size(); ++entry) ++offsets[user(entry) + 1];
  for (std::size_t row = 0; row < new_user.size(); ++row) offsets[row + 1] += offsets[row];
  group_by_user(offsets);
  user_low_ = {};
  user_middle_ = {};
  user_high_ = {};

  LoggedRows rows;
  std::uint64_t out = 0;
  for (std::size_t row = 0; row < new_user.size(); ++row) {
    const std::uint64_t begin = offsets[row];
    offsets[row] = out;
    out = merge_row(begin, offsets[row + 1], out);
  }
  offsets.back() = out;
  rows.duplicates = items_.size() - out;
  items_.shrink(out);
  if (options_.with_times) times_.shrink(out);
  if (options_.with_parts) {
    rows.in_test.resize(out);
    for (std::uint64_t i = 0; i < out; ++i) {
      rows.in_test[i] = (items_[i] & 1) != 0;
      items_[i] >>= 1;
    }
  }
  rows.csr.offsets = std::move(offsets);
  rows.csr.columns = std::move(items_);
  rows.times = std::move(times_);
  return rows;
}

}  // namespace bet
