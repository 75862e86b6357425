#include "runtime/interaction_section.h"

#include <algorithm>

namespace bet {
namespace {

constexpr std::uint32_t kListsPerBlock = 32;
constexpr std::string_view kInteractions = "interactions";
constexpr unsigned kParts = 8;  // of a list in the form "bits"
constexpr unsigned kParameterBits = 5;

// Of a length, and so how many lengths have parameters of their own.
unsigned length_bits(std::uint64_t length) { return static_cast<unsigned>(std::bit_width(length)); }

// Calls take(k) for each item of a list of `count`, at least one, with the parameter of its part.
template <typename Parameters, typename Take>
void for_each_part(Parameters& parameters, std::uint32_t count, const Take& take) {
  auto& of_length = parameters[length_bits(count) - 1];
  std::uint32_t item = 0;
  for (unsigned part = 0; part < kParts; ++part) {
    auto& parameter = of_length[part];
    const auto end = static_cast<std::uint32_t>(std::uint64_t{count} * (part + 1) / kParts);
    for (; item < end; ++item) take(parameter);
  }
}

// A length is stored as its difference from the one before; these are 0, -1, 1, -2, 2, ...
std::uint64_t length_code(std::uint32_t length, std::uint32_t before) {
  return length < before ? 2 * std::uint64_t{before - length} - 1
                         : 2 * std::uint64_t{length - before};
}

// Of a code that may be wrong: below zero or too large.
std::int64_t length_of(std::uint64_t code, std::uint32_t before) {
  const auto half = static_cast<std::int64_t>(code / 2);
  return std::int64_t{before} + (code % 2 == 0 ? half : -half - 1);
}

}  // namespace

InteractionSection::InteractionSection(Bytes bytes, ListForm form, std::uint32_t num_users,
                                       std::uint32_t num_items)
    : form_(form), num_users_(num_users), item_degrees_(num_items) {
  ByteReader reader(bytes, kInteractions);
  begins_ =
      reader.take(4 * ((std::uint64_t{num_users} + kListsPerBlock - 1) / kListsPerBlock)).data();
  if (form == ListForm::kBits) {
    const unsigned lengths = length_bits(num_items);
    BitReader parameters(reader.take(lengths * kParts * kParameterBits / 8), kInteractions);
    parameters_.resize(lengths);
    for (auto& of_length : parameters_) {
      for (auto& k : of_length) k = static_cast<std::uint8_t>(parameters.number(kParameterBits));
    }
  }
  lists_ = reader.rest();
  form == ListForm::kBits ? check_bits() : check_bytes();
}

void InteractionSection::check_begin(std::uint32_t user, std::uint64_t at) const {
  BET_CHECK(load<std::uint32_t>(begins_ + 4 * (user / kListsPerBlock)) == at, kInteractions,
            ": the list of user row ", user, " is not where the index says");
}

template <typename NextDistance>
void InteractionSection::check_list(std::uint32_t user, std::int64_t count,
                                    const NextDistance& next_distance) {
  const std::uint64_t num_items = item_degrees_.size();
  BET_CHECK(count >= 0 && static_cast<std::uint64_t>(count) <= num_items, kInteractions,
            ": user row ", user, " has ", count, " of ", num_items, " items");
  std::uint64_t least = 0;
  const auto take = [&](unsigned k) {
    const std::uint64_t item = least + next_distance(k);
    BET_CHECK(item < num_items, kInteractions, ": user row ", user, " has item row ", item, " of ",
              num_items);
    ++item_degrees_[static_cast<std::size_t>(item)];
    least = item + 1;
  };
  const auto length = static_cast<std::uint32_t>(count);
  if (form_ == ListForm::kBytes) {
    for (std::uint32_t i = 0; i < length; ++i) take(0);
  } else if (length > 0) {
    for_each_part(parameters_, length, take);
  }
  longest_ = std::max(longest_, length);
  num_interactions_ += length;
}

void InteractionSection::check_bytes() {
  ByteReader lists(lists_, kInteractions);
  for (std::uint32_t user = 0; user < num_users_; ++user) {
    if (user % kListsPerBlock == 0) check_begin(user, lists.at());
    check_list(user, lists.base128(), [&](unsigned) { return std::uint64_t{lists.base128()}; });
  }
  lists.expect_end();
}

void InteractionSection::check_bits() {
  BitReader lists(lists_, kInteractions);
  std::int64_t length = 0;
  for (std::uint32_t user = 0; user < num_users_; ++user) {
    if (user % kListsPerBlock == 0) {
      lists.to_next_byte();
      check_begin(user, lists.at_bit() / 8);
      length = 0;
    }
    length = length_of(lists.golomb(0), static_cast<std::uint32_t>(length));
    check_list(user, length, [&](unsigned k) { return lists.golomb(k); });
  }
  lists.expect_end();
}

InteractionSection::ListReader::ListReader(const InteractionSection& section, std::uint32_t block)
    : section_(section),
      at_(section.lists_.data()),
      bits_(section.lists_, block == 0 ? 0 : load<std::uint32_t>(section.begins_ + 4 * block)) {
  if (block > 0) at_ += load<std::uint32_t>(section.begins_ + 4 * block);
}

std::uint32_t InteractionSection::ListReader::next(std::uint32_t* items) {
  if (section_.form_ == ListForm::kBits) return next_of_bits(items);
  const std::uint32_t count = load_base128(at_);
  std::uint32_t item = 0xffffffffU;  // so that the first one is the stored number itself
  for (std::uint32_t i = 0; i < count; ++i) {
    item += load_base128(at_) + 1;
    items[i] = item;
  }
  return count;
}

std::uint32_t InteractionSection::ListReader::next_of_bits(std::uint32_t* items) {
  if (in_block_ == kListsPerBlock) {
    bits_.to_next_byte();
    in_block_ = 0;
    length_ = 0;
  }
  ++in_block_;
  length_ = static_cast<std::uint32_t>(length_of(bits_.golomb(0), length_));
  if (length_ == 0) return 0;
  std::uint32_t least = 0;
  for_each_part(section_.parameters_, length_, [&](unsigned k) {
    const std::uint32_t item = least + static_cast<std::uint32_t>(bits_.golomb(k));
    *items++ = item;
    least = item + 1;
  });
  return length_;
}

std::vector<std::uint32_t> InteractionSection::items_of(std::uint32_t user) const {
  ListReader reader(*this, user / kListsPerBlock);
  std::vector<std::uint32_t> items(longest_);
  for (std::uint32_t skip = user % kListsPerBlock; skip > 0; --skip) reader.next(items.data());
  items.resize(reader.next(items.data()));
  return items;
}

namespace {

using ItemLists = std::span<const std::vector<std::uint32_t>>;

void append_begin(std::string& begins, std::uint64_t at) {
  BET_CHECK(at <= 0xffffffffU, "interactions of more than 4 GiB");
  append(begins, static_cast<std::uint32_t>(at));
}

std::string encode_as_bytes(ItemLists items_of) {
  std::string begins;
  std::string lists;
  for (std::size_t user = 0; user < items_of.size(); ++user) {
    if (user % kListsPerBlock == 0) append_begin(begins, lists.size());
    append_base128(lists, static_cast<std::uint32_t>(items_of[user].size()));
    std::uint32_t last = 0xffffffffU;
    for (const std::uint32_t item : items_of[user]) {
      append_base128(lists, item - last - 1);
      last = item;
    }
  }
  return begins + lists;
}

// The smallest of those that need the fewest bits.
ListParameters best_parameters(ItemLists items_of, std::uint32_t num_items) {
  const unsigned lengths = length_bits(num_items);
  const unsigned choices = std::min(lengths, (1U << kParameterBits) - 1) + 1;
  using Bits = std::array<std::uint64_t, 1U << kParameterBits>;  // by parameter
  std::vector<std::array<Bits, kParts>> bits(lengths);
  for (const std::vector<std::uint32_t>& items : items_of) {
    if (items.empty()) continue;
    const std::uint32_t* item = items.data();
    std::uint32_t least = 0;
    for_each_part(bits, static_cast<std::uint32_t>(items.size()), [&](Bits& of_part) {
      for (unsigned k = 0; k < choices; ++k) of_part[k] += golomb_bits(*item - least, k);
      least = *item++ + 1;
    });
  }
  ListParameters parameters(lengths);
  for (unsigned length = 0; length < lengths; ++length) {
    for (unsigned part = 0; part < kParts; ++part) {
      const Bits& of_part = bits[length][part];
      const auto best = std::min_element(of_part.begin(), of_part.begin() + choices);
      parameters[length][part] = static_cast<std::uint8_t>(best - of_part.begin());
    }
  }
  return parameters;
}

std::string encode_as_bits(ItemLists items_of, std::uint32_t num_items) {
  const ListParameters parameters = best_parameters(items_of, num_items);
  BitWriter table;
  for (const auto& of_length : parameters) {
    for (const std::uint8_t k : of_length) table.number(k, kParameterBits);
  }
  std::string begins;
  BitWriter lists;
  std::uint32_t length = 0;
  for (std::size_t user = 0; user < items_of.size(); ++user) {
    if (user % kListsPerBlock == 0) {
      append_begin(begins, lists.fill_byte());
      length = 0;
    }
    const std::vector<std::uint32_t>& items = items_of[user];
    lists.golomb(length_code(static_cast<std::uint32_t>(items.size()), length), 0);
    length = static_cast<std::uint32_t>(items.size());
    if (length == 0) continue;
    const std::uint32_t* item = items.data();
    std::uint32_t least = 0;
    for_each_part(parameters, length, [&](unsigned k) {
      lists.golomb(*item - least, k);
      least = *item++ + 1;
    });
  }
  return begins + table.take_bytes() + lists.take_bytes();
}

}  // namespace

EncodedInteractions encode_interactions(ItemLists items_of, std::uint32_t num_items) {
  std::string bytes = encode_as_bytes(items_of);
  std::string bits = encode_as_bits(items_of, num_items);
  if (bits.size() + kWorthBits <= bytes.size()) return {ListForm::kBits, std::move(bits)};
  return {ListForm::kBytes, std::move(bytes)};
}

}  // namespace bet
