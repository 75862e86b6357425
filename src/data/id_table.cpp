#include "data/id_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace bet {
namespace {

// Of 19 digits.
constexpr std::uint64_t kLargestPlain = 9'999'999'999'999'999'999U;

// The value of a plain integer: digits only, no leading zero, at most 19 of them.
std::optional<std::uint64_t> plain_number(std::string_view id) {
  if (id.empty() || id.size() > 19 || (id[0] == '0' && id.size() > 1)) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : id) {
    const auto digit = static_cast<unsigned>(c) - unsigned{'0'};
    if (digit > 9) return std::nullopt;
    number = number * 10 + digit;
  }
  return number;
}

std::size_t hash_number(std::uint64_t number) {
  const std::uint64_t mixed = number * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

}  // namespace

IdTable IdTable::consecutive(std::uint32_t count) {
  IdTable table;
  table.numbers_.resize(count);
  std::iota(table.numbers_.begin(), table.numbers_.end(), std::uint64_t{0});
  return table;
}

std::uint32_t IdTable::size() const {
  if (numeric_) return static_cast<std::uint32_t>(numbers_.size());
  return static_cast<std::uint32_t>(text_begin_.size() - 1);
}

std::string_view IdTable::text(std::uint32_t index) const {
  return std::string_view(text_).substr(text_begin_[index],
                                        text_begin_[index + 1] - text_begin_[index]);
}

std::string IdTable::name(std::uint32_t index) const {
  return numeric_ ? std::to_string(numbers_[index]) : std::string(text(index));
}

std::optional<std::uint32_t> IdTable::find(std::string_view id) const {
  if (numeric_) {
    const auto number = plain_number(id);
    if (!number) return std::nullopt;
    const auto it = std::lower_bound(numbers_.begin(), numbers_.end(), *number);
    if (it == numbers_.end() || *it != *number) return std::nullopt;
    return static_cast<std::uint32_t>(it - numbers_.begin());
  }
  std::uint32_t low = 0;
  std::uint32_t high = size();
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (text(middle) < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == size() || text(low) != id) return std::nullopt;
  return low;
}

IdTable IdTable::subset(std::span<const std::uint32_t> kept) const {
  IdTable table;
  table.numeric_ = numeric_;
  if (!numeric_) table.text_begin_.push_back(0);
  for (const std::uint32_t index : kept) {
    if (numeric_) {
      table.numbers_.push_back(numbers_[index]);
    } else {
      table.text_ += text(index);
      table.text_begin_.push_back(table.text_.size());
    }
  }
  return table;
}

IdBuilder::IdBuilder(std::string what, std::uint64_t max_count)
    : what_(std::move(what)), max_count_(max_count), slots_(1024) {}

std::string_view IdBuilder::text(std::uint32_t index) const {
  const std::uint64_t begin = index == 0 ? 0 : text_end_[index - 1];
  return {text_.data() + begin, text_end_[index] - begin};
}

std::uint32_t IdBuilder::add() {
  BET_CHECK(count_ < max_count_, "more than ", max_count_, " different ", what_);
  return count_++;
}

void IdBuilder::grow_slots() {
  std::vector<std::uint32_t> slots(slots_.size() * 2);
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t index = 0; index < count_; ++index) {
    std::size_t slot;
    if (numeric_) {
      if (numbers_[index] < kMaxDirect) continue;
      slot = hash_number(numbers_[index]);
    } else {
      const std::string_view id = text(index);
      slot = XXH3_64bits(id.data(), id.size());
    }
    for (slot &= mask; slots[slot] != 0; slot = (slot + 1) & mask) {
    }
    slots[slot] = index + 1;
  }
  slots_ = std::move(slots);
}

std::uint32_t IdBuilder::add_direct(std::uint64_t number) {
  if (number >= direct_.size()) direct_.resize(std::bit_ceil(number + 1));
  const std::uint32_t index = add();
  numbers_.push_back(number);
  direct_[number] = index + 1;
  return index;
}

std::uint32_t IdBuilder::index_of_large(std::uint64_t number) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_number(number) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (numbers_[slots_[slot] - 1] == number) return slots_[slot] - 1;
  }
  const std::uint32_t index = add();
  slots_[slot] = index + 1;
  numbers_.push_back(number);
  if (std::size_t{count_} * 2 > slots_.size()) grow_slots();
  return index;
}

std::uint32_t IdBuilder::index_of_text(std::string_view id) {
  if (count_ > 0 && text(last_) == id) return last_;
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = XXH3_64bits(id.data(), id.size()) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (text(slots_[slot] - 1) == id) return last_ = slots_[slot] - 1;
  }
  last_ = add();
  slots_[slot] = last_ + 1;
  for (const char c : id) text_.push_back(c);
  text_end_.push_back(text_.size());
  if (std::size_t{count_} * 2 > slots_.size()) grow_slots();
  return last_;
}

void IdBuilder::become_text() {
  for (std::uint32_t index = 0; index < count_; ++index) {
    for (const char c : std::to_string(numbers_[index])) text_.push_back(c);
    text_end_.push_back(text_.size());
  }
  numbers_ = {};
  direct_ = {};
  numeric_ = false;
  slots_.resize(std::bit_ceil(std::size_t{count_} + 512));  // doubled by grow_slots()
  grow_slots();
}

std::uint32_t IdBuilder::index_of(std::string_view id) {
  if (numeric_) {
    if (const auto number = plain_number(id)) return index_of_number(*number);
    become_text();
  }
  return index_of_text(id);
}

std::uint32_t IdBuilder::index_of(std::uint64_t number) {
  if (numeric_ && number <= kLargestPlain) return index_of_number(number);
  return index_of(std::to_string(number));
}

IdBuilder::Result IdBuilder::finish() {
  slots_ = std::vector<std::uint32_t>(1024);
  std::vector<std::uint32_t> order(count_);
  std::iota(order.begin(), order.end(), 0U);
  Result result;
  result.table.numeric_ = numeric_;
  if (numeric_) {
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return numbers_[a] < numbers_[b]; });
    result.table.numbers_.reserve(count_);
    for (const std::uint32_t index : order) result.table.numbers_.push_back(numbers_[index]);
  } else {
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return text(a) < text(b); });
    result.table.text_.reserve(text_.size());
    result.table.text_begin_.reserve(std::size_t{count_} + 1);
    result.table.text_begin_.push_back(0);
    for (const std::uint32_t index : order) {
      result.table.text_ += text(index);
      result.table.text_begin_.push_back(result.table.text_.size());
    }
  }
  result.new_index.resize(count_);
  for (std::uint32_t i = 0; i < count_; ++i) result.new_index[order[i]] = i;
  *this = IdBuilder(what_, max_count_);
  return result;
}

}  // namespace bet
