#include "data/interaction_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/error.h"

namespace bet {
namespace {

// Sorts by the lowest num_bits bits, least significant digits first.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& scratch,
                int num_bits) {
  constexpr int kDigitBits = 11;
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigitBits;
  scratch.resize(keys.size());
  for (int shift = 0; shift < num_bits; shift += kDigitBits) {
    std::array<std::uint32_t, kDigits> next{};  // first the counts, then where each digit goes
    for (const std::uint64_t key : keys) ++next[key >> shift & (kDigits - 1)];
    std::uint32_t running = 0;
    for (std::uint32_t& position : next) running += std::exchange(position, running);
    for (const std::uint64_t key : keys) scratch[next[key >> shift & (kDigits - 1)]++] = key;
    keys.swap(scratch);
  }
}

// Sorts pairs with their times, earlier times first among equal pairs.
void sort_with_times(std::vector<std::uint64_t>& keys, std::vector<double>& times) {
  std::vector<std::pair<std::uint64_t, double>> both(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) both[i] = {keys[i], times[i]};
  std::sort(both.begin(), both.end());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = both[i].first;
    times[i] = both[i].second;
  }
}

}  // namespace

void InteractionLog::make_room(UserId user, ItemId item) {
  BET_CHECK(count_ < options_.max_count, "more than ", options_.max_count, " interactions");
  BET_CHECK(!options_.with_parts || item >> 31 == 0, "more than ", 1U << 31,
            " items in data with a test part");
  if (user >> 24 != 0 && width_ == 7) widen();
  if (count_ < room_) return;
  room_ = std::min(room_ + room_ / 2 + 1024, options_.max_count);
  storage_.grow_to((room_ * width_ + sizeof(Pair)) / sizeof(ItemId) + 1);
}

// Widens the pairs from 7 to 8 bytes, from the end so that none is overwritten before it is read.
void InteractionLog::widen() {
  storage_.grow_to((room_ + 1) * sizeof(Pair) / sizeof(ItemId) + 1);
  for (std::uint64_t entry = count_; entry-- > 0;) {
    const Pair value = pair(entry);
    std::memcpy(storage_.data() + 2 * entry, &value, sizeof(value));
  }
  width_ = 8;
  mask_ = ~Pair{0};
}

bool InteractionLog::occurs_again(std::uint64_t entry) {
  const int shift = options_.with_parts ? 1 : 0;
  const Pair wanted = pair(entry);
  for (std::uint64_t other = 0; other < count_; ++other) {
    if (other == entry) continue;
    const Pair value = pair(other);
    if (value >> 32 == wanted >> 32) return true;
    if (static_cast<ItemId>(value) >> shift == static_cast<ItemId>(wanted) >> shift) return true;
  }
  return false;
}

// Returns where each bucket of users begins, and the end of the last.
std::vector<std::uint64_t> InteractionLog::renumber(std::span<const std::uint32_t> new_user,
                                                    std::span<const std::uint32_t> new_item,
                                                    int shift) {
  const std::size_t num_buckets = (new_user.size() + (std::size_t{1} << shift) - 1) >> shift;
  std::vector<std::uint64_t> begins(num_buckets + 1, 0);
  for (std::uint64_t entry = 0; entry < count_; ++entry) {
    const Pair old = pair(entry);
    const auto item = static_cast<ItemId>(old);
    const UserId user = new_user[old >> 32];
    const ItemId renumbered =
        options_.with_parts ? new_item[item >> 1] << 1 | (item & 1) : new_item[item];
    set_pair(entry, Pair{user} << 32 | renumbered);
    ++begins[(user >> shift) + 1];
  }
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  return begins;
}

// American-flag sort: every pair is swapped straight to the next free position of its bucket.
void InteractionLog::distribute(std::span<const std::uint64_t> bucket_begins, int shift) {
  std::vector<std::uint64_t> next(bucket_begins.begin(), bucket_begins.end() - 1);
  shift += 32;
  for (std::size_t bucket = 0; bucket < next.size(); ++bucket) {
    for (; next[bucket] < bucket_begins[bucket + 1]; ++next[bucket]) {
      Pair value = pair(next[bucket]);
      if (value >> shift == bucket) continue;
      double time = options_.with_times ? times_[next[bucket]] : 0.0;
      while (value >> shift != bucket) {  // follow the cycle until a pair of this bucket comes back
        const std::uint64_t target = next[value >> shift]++;
        const Pair displaced = pair(target);
        set_pair(target, value);
        value = displaced;
        if (options_.with_times) std::swap(time, times_[target]);
      }
      set_pair(next[bucket], value);
      if (options_.with_times) times_[next[bucket]] = time;
    }
  }
}

// Gathers the pairs [bounds[0], bounds[1]) of a bucket and sorts them there. A bucket is small
// enough for the cache.
void InteractionLog::sort_bucket(std::span<const std::uint64_t, 2> bounds, Pair first_user,
                                 int item_bits, int user_bits, SortBuffer& buffer) {
  std::vector<Pair>& keys = buffer.pairs;
  keys.resize(bounds[1] - bounds[0]);
  // For the sort the user moves down, next to the item's bits: fewer digits.
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Pair value = pair(bounds[0] + i);
    keys[i] = ((value >> 32) - first_user) << item_bits | static_cast<ItemId>(value);
  }
  if (options_.with_times) {
    buffer.times.assign(times_.data() + bounds[0], times_.data() + bounds[1]);
    sort_with_times(keys, buffer.times);
  } else {
    radix_sort(keys, buffer.scratch, item_bits + user_bits);
  }
  for (Pair& key : keys) {
    key = ((key >> item_bits) + first_user) << 32 | (key & ((Pair{1} << item_bits) - 1));
  }
}

// Writes the items of sorted pairs to storage_[out ..] without duplicates and counts them into the
// rows' offsets; returns the end. The train mark (0) and the earlier time sort first, so the first
// of equal pairs is the one to keep. Only pairs that were read already are overwritten: an item is
// shorter than a pair.
std::uint64_t InteractionLog::write_rows(const SortBuffer& sorted, std::uint64_t out,
                                         Interactions& rows) {
  const int shift = options_.with_parts ? 1 : 0;
  const std::vector<Pair>& pairs = sorted.pairs;
  Pair last = ~Pair{0};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] >> shift == last) continue;
    last = pairs[i] >> shift;
    storage_[out] = static_cast<ItemId>(pairs[i]) >> shift;
    if (options_.with_parts) rows.in_test.push_back((pairs[i] & 1) != 0);
    if (options_.with_times) times_[out] = sorted.times[i];
    ++rows.offsets[(pairs[i] >> 32) + 1];
    ++out;
  }
  return out;
}

LoggedRows InteractionLog::finish(std::span<const std::uint32_t> new_user,
                                  std::span<const std::uint32_t> new_item) {
  constexpr std::size_t kMaxBuckets = 512;
  int shift = 0;
  while (new_user.size() >> shift > kMaxBuckets) ++shift;
  const std::vector<std::uint64_t> begins = renumber(new_user, new_item, shift);
  distribute(begins, shift);

  LoggedRows logged;
  Interactions& rows = logged.interactions;
  rows.offsets.assign(new_user.size() + 1, 0);
  const auto item_bits =
      static_cast<int>(std::bit_width(new_item.size() << (options_.with_parts ? 1 : 0)));
  SortBuffer buffer;
  std::uint64_t out = 0;
  for (std::size_t bucket = 0; bucket + 1 < begins.size(); ++bucket) {
    sort_bucket(std::span(begins).subspan(bucket).first<2>(), Pair{bucket} << shift, item_bits,
                shift, buffer);
    out = write_rows(buffer, out, rows);
  }
  for (std::size_t row = 0; row < new_user.size(); ++row) {
    rows.offsets[row + 1] += rows.offsets[row];
  }
  logged.duplicates = count_ - out;
  storage_.shrink(out);
  if (options_.with_times) times_.shrink(out);
  rows.columns = std::move(storage_);
  rows.times = std::move(times_);
  *this = InteractionLog(options_);
  return logged;
}

}  // namespace bet
