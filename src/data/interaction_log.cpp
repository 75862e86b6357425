#include "data/interaction_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/error.h"

namespace bet {
namespace {

// Sorts by the bits from 0 to num_bits: least significant digits first.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& other, int num_bits) {
  constexpr int kDigitBits = 11;
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigitBits;
  other.resize(keys.size());
  for (int shift = 0; shift < num_bits; shift += kDigitBits) {
    std::array<std::uint32_t, kDigits> place{};
    for (const std::uint64_t key : keys) ++place[key >> shift & (kDigits - 1)];
    std::uint32_t running = 0;
    for (std::uint32_t& p : place) running += std::exchange(p, running);
    for (const std::uint64_t key : keys) other[place[key >> shift & (kDigits - 1)]++] = key;
    keys.swap(other);
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
            " items in data with given parts");
  if (user >> 24 != 0 && width_ == 7) widen();
  if (count_ < room_) return;
  room_ = std::min(room_ + room_ / 2 + 1024, options_.max_count);
  words_.grow_to((room_ * width_ + sizeof(Pair)) / sizeof(ItemId) + 1);
}

// Spreads the pairs from 7 to 8 bytes, from the end so that none is overwritten before it is read.
void InteractionLog::widen() {
  words_.grow_to((room_ + 1) * sizeof(Pair) / sizeof(ItemId) + 1);
  for (std::uint64_t entry = count_; entry-- > 0;) {
    const Pair value = pair(entry);
    std::memcpy(words_.data() + 2 * entry, &value, sizeof(value));
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

void InteractionLog::renumber(std::span<const std::uint32_t> new_user,
                              std::span<const std::uint32_t> new_item,
                              std::vector<std::uint64_t>& row_sizes) {
  for (std::uint64_t entry = 0; entry < count_; ++entry) {
    const Pair old = pair(entry);
    const auto item = static_cast<ItemId>(old);
    const UserId user = new_user[old >> 32];
    const ItemId renumbered =
        options_.with_parts ? new_item[item >> 1] << 1 | (item & 1) : new_item[item];
    set_pair(entry, Pair{user} << 32 | renumbered);
    ++row_sizes[user];
  }
}

// American-flag sort: every pair is swapped straight to the next free place of its bucket, which
// holds the users from bucket << shift on. begins: of the buckets, and the end.
void InteractionLog::distribute(std::span<const std::uint64_t> begins, int shift) {
  std::vector<std::uint64_t> next(begins.begin(), begins.end() - 1);
  shift += 32;
  for (std::size_t bucket = 0; bucket < next.size(); ++bucket) {
    for (; next[bucket] < begins[bucket + 1]; ++next[bucket]) {
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

// Writes the items of sorted pairs to words_[out ..], duplicates left out, and counts them into the
// rows' offsets; returns the end. The train mark (0) and the earlier time come first, so the first
// of equals is the one to keep. What is overwritten has been read: an item is shorter than a pair.
std::uint64_t InteractionLog::write_rows(std::span<const Pair> pairs, std::span<const double> times,
                                         std::uint64_t out, LoggedRows& rows) {
  const int shift = options_.with_parts ? 1 : 0;
  Pair last = ~Pair{0};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] >> shift == last) continue;
    last = pairs[i] >> shift;
    words_[out] = static_cast<ItemId>(pairs[i]) >> shift;
    if (options_.with_parts) rows.in_test.push_back((pairs[i] & 1) != 0);
    if (options_.with_times) times_[out] = times[i];
    ++rows.csr.offsets[(pairs[i] >> 32) + 1];
    ++out;
  }
  return out;
}

// A bucket of users at a time, small enough for the cache: the pairs are gathered there and sorted.
LoggedRows InteractionLog::finish(std::span<const std::uint32_t> new_user,
                                  std::span<const std::uint32_t> new_item) {
  constexpr std::size_t kBuckets = 512;
  std::vector<std::uint64_t> row_sizes(new_user.size(), 0);
  renumber(new_user, new_item, row_sizes);
  int shift = 0;
  while (row_sizes.size() >> shift > kBuckets) ++shift;
  std::vector<std::uint64_t> begins(((row_sizes.size() + (1U << shift) - 1) >> shift) + 1, 0);
  for (std::size_t row = 0; row < row_sizes.size(); ++row)
    begins[(row >> shift) + 1] += row_sizes[row];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  row_sizes = {};
  distribute(begins, shift);

  LoggedRows rows;
  rows.csr.offsets.assign(new_user.size() + 1, 0);
  const auto item_bits =
      static_cast<int>(std::bit_width(new_item.size() << (options_.with_parts ? 1 : 0)));
  std::vector<Pair> pairs;
  std::vector<Pair> scratch;
  std::vector<double> times;
  std::uint64_t out = 0;
  for (std::size_t bucket = 0; bucket + 1 < begins.size(); ++bucket) {
    const std::uint64_t begin = begins[bucket];
    pairs.resize(begins[bucket + 1] - begin);
    // For the sort the user moves down, next to the item's bits.
    const Pair first_user = Pair{bucket} << shift;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Pair value = pair(begin + i);
      pairs[i] = ((value >> 32) - first_user) << item_bits | static_cast<ItemId>(value);
    }
    if (options_.with_times) {
      times.assign(times_.data() + begin, times_.data() + begins[bucket + 1]);
      sort_with_times(pairs, times);
    } else {
      radix_sort(pairs, scratch, item_bits + shift);
    }
    for (Pair& key : pairs) {
      key = ((key >> item_bits) + first_user) << 32 | (key & ((Pair{1} << item_bits) - 1));
    }
    out = write_rows(pairs, times, out, rows);
  }
  for (std::size_t row = 0; row < new_user.size(); ++row) {
    rows.csr.offsets[row + 1] += rows.csr.offsets[row];
  }
  rows.duplicates = count_ - out;
  words_.shrink(out);
  if (options_.with_times) times_.shrink(out);
  rows.csr.columns = std::move(words_);
  rows.times = std::move(times_);
  *this = InteractionLog(options_);
  return rows;
}

}  // namespace bet
