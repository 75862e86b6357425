#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "runtime/bits.h"
#include "runtime/bytes.h"
#include "runtime/facts.h"
#include "runtime/id_section.h"
#include "runtime/interaction_section.h"
#include "runtime/toy_model.h"
#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;
using test::exact_bytes;

using Lists = std::vector<std::vector<std::uint32_t>>;

std::string text_of(std::initializer_list<unsigned> bytes) {
  std::string text;
  for (const unsigned byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

std::uint32_t read_base128(const std::string& text) {
  const std::vector<std::byte> bytes = exact_bytes(text);
  ByteReader reader(bytes, "numbers");
  const std::uint32_t value = reader.base128();
  reader.expect_end();
  return value;
}

TEST(Base128, IsAsWritten) {
  const std::vector<std::pair<std::uint32_t, std::string>> known = {
      {0, text_of({0})},
      {127, text_of({0x7f})},
      {128, text_of({0x80, 1})},
      {300, text_of({0xac, 2})},
      {16'383, text_of({0xff, 0x7f})},
      {16'384, text_of({0x80, 0x80, 1})},
      {0xffffffffU, text_of({0xff, 0xff, 0xff, 0xff, 0x0f})}};
  for (const auto& [value, text] : known) {
    std::string written;
    append_base128(written, value);
    EXPECT_EQ(written, text) << value;
  }
}

TEST(Base128, BothReadersGiveBackWhatWasWritten) {
  std::vector<std::uint32_t> values = {0};
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::uint32_t power = std::uint32_t{1} << bit;
    values.insert(values.end(), {power - 1, power, power + 1, power | 0x55555555U});
  }
  for (const std::uint32_t value : values) {
    std::string text;
    append_base128(text, value);
    EXPECT_EQ(read_base128(text), value);
    const std::vector<std::byte> bytes = exact_bytes(text);
    const std::byte* at = bytes.data();
    EXPECT_EQ(load_base128(at), value);
    EXPECT_EQ(at, bytes.data() + bytes.size());
  }
}

TEST(Base128, RefusesNeedlessBytesLargeNumbersAndEnds) {
  const auto error = [](std::initializer_list<unsigned> bytes) {
    return error_of([&] { read_base128(text_of(bytes)); });
  };
  EXPECT_NE(error({0x80, 0}).find("needless zero"), std::string::npos);
  EXPECT_NE(error({0xff, 0x80, 0}).find("needless zero"), std::string::npos);
  EXPECT_NE(error({0xff, 0xff, 0xff, 0xff, 0x1f}).find("more than 32 bits"), std::string::npos);
  EXPECT_NE(error({0x80, 0x80, 0x80, 0x80, 0x80, 1}).find("more than 32 bits"), std::string::npos);
  EXPECT_NE(error({0x80}).find("numbers: ends after 1 bytes"), std::string::npos);
  EXPECT_NE(error({}).find("numbers: ends after 0 bytes"), std::string::npos);
}

TEST(Base128, OfSixtyThreeBits) {
  const auto read = [](const std::string& text) {
    const std::vector<std::byte> bytes = exact_bytes(text);
    ByteReader reader(bytes, "numbers");
    const std::uint64_t value = reader.base128_of_63_bits();
    reader.expect_end();
    return value;
  };
  for (unsigned bit = 0; bit < 63; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t value : {power - 1, power, power | 0x55, 2 * power - 1}) {
      std::string text;
      append_base128(text, value);
      EXPECT_EQ(text.size(),
                value == 0 ? 1U : static_cast<unsigned>(std::bit_width(value) + 6) / 7);
      EXPECT_EQ(read(text), value);
    }
  }
  EXPECT_NE(error_of([&] { read(std::string(9, '\xff') + '\x01'); }).find("more than 63 bits"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read(text_of({0x80, 0})); }).find("needless zero"), std::string::npos);
}

TEST(Bits, ComeBack) {
  struct Piece {
    std::uint64_t number;
    unsigned count;
    bool is_ones;
  };
  test::Random random(1);
  std::vector<Piece> pieces;
  BitWriter writer;
  for (int i = 0; i < 2000; ++i) {
    const unsigned count = random() % 33;
    const bool is_ones = random() % 4 == 0;
    const std::uint64_t number =
        is_ones ? random() % 200 : random() & ((std::uint64_t{1} << count) - 1);
    pieces.push_back({number, count, is_ones});
    if (is_ones) {
      writer.ones(number);
      writer.number(0, 1);
    } else {
      writer.number(number, count);
    }
  }
  const std::vector<std::byte> bytes = exact_bytes(writer.take_bytes());
  BitReader reader(bytes, "bits");
  for (const auto& [number, count, is_ones] : pieces) {
    ASSERT_EQ(is_ones ? reader.ones(number) : reader.number(count), number);
  }
  reader.expect_end();
}

TEST(Facts, ComeBackSorted) {
  const Facts facts = {{"z", 0.1},
                       {"", std::string()},
                       {"a", std::int64_t{-5}},
                       {"B", std::string("\0\xff text", 7)},
                       {"b", std::numeric_limits<std::int64_t>::min()},
                       {std::string(255, 'k'), std::string(1000, 'v')}};
  Facts sorted = facts;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(decode_facts(exact_bytes(encode_facts(facts))), sorted);
  EXPECT_EQ(encode_facts(sorted), encode_facts(facts));
  EXPECT_TRUE(decode_facts(exact_bytes(encode_facts({}))).empty());
}

TEST(Facts, RefuseWhatCannotBeStored) {
  EXPECT_NE(error_of([] {
              encode_facts({{"a", 1.0}, {"b", 1.0}, {"a", 2.0}});
            }).find("fact 'a'"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              encode_facts({{std::string(256, 'k'), 1.0}});
            }).find("255 bytes"),
            std::string::npos);
}

// Every count around the blocks of 16 and the widths of packed rows.
TEST(Ids, EveryIdIsFoundAndNoOther) {
  for (const std::uint32_t count :
       {0U, 1U, 2U, 3U, 15U, 16U, 17U, 31U, 32U, 33U, 128U, 129U, 1000U}) {
    test::Random random(count);
    std::set<std::string> all = {};
    if (count > 1) all.insert("");
    while (all.size() < count) {
      std::string id = std::to_string(random());
      if (random() % 4 == 0) id += std::string(random() % 300, 'x');
      if (random() % 4 == 0) id[0] = static_cast<char>(random());
      all.insert(id);
    }
    std::vector<std::string> ids(all.begin(), all.end());
    std::shuffle(ids.begin(), ids.end(), random);
    const EncodedIds encoded = encode_ids(ids);
    const std::vector<std::byte> bytes = exact_bytes(encoded.bytes);
    const IdSection section(bytes, count, encoded.form, "ids");
    EXPECT_EQ(section.size(), count);
    for (std::uint32_t row = 0; row < count; ++row) {
      ASSERT_EQ(section.name(row), ids[row]) << count;
      ASSERT_EQ(section.find(ids[row]), row) << count;
      for (std::string other : {ids[row] + '\0', ids[row] + "x", "!" + ids[row]}) {
        ASSERT_EQ(section.find(other).has_value(), all.contains(other)) << count << other;
      }
    }
    EXPECT_FALSE(section.find(std::string(70'000, '\xff')));
    EXPECT_EQ(section.find("").has_value(), count > 1);
  }
}

TEST(Ids, BytesAreOrderedAsUnsigned) {
  const std::vector<std::string> ids = {"\xff", "a", "\x7f", "\x80"};
  const std::vector<std::byte> bytes = exact_bytes(encode_ids(ids).bytes);
  // Rows by text: a (1), 7f (2), 80 (3), ff (0), two bits each behind the one block.
  EXPECT_EQ(std::to_integer<int>(bytes[4]), 1 | 2 << 2 | 3 << 4 | 0 << 6);
  EXPECT_EQ(IdSection(bytes, 4, IdForm::kTexts, "ids").find("\xff"), 0U);
}

TEST(Ids, LongestIsTakenLongerIsNot) {
  std::vector<std::string> ids = {std::string(65'535, 'x')};
  const std::vector<std::byte> bytes = exact_bytes(encode_ids(ids).bytes);
  EXPECT_EQ(IdSection(bytes, 1, IdForm::kTexts, "ids").find(ids[0]), 0U);
  ids[0] += 'x';
  EXPECT_NE(error_of([&] { encode_ids(ids); }).find("65536 bytes"), std::string::npos);
}

TEST(Ids, EqualOnesAreRefused) {
  EXPECT_NE(error_of([] {
              encode_ids(std::vector<std::string>{"a", "b", "a"});
            }).find("id 'a' is given twice"),
            std::string::npos);
}

std::string section_of(const std::vector<std::string>& ids) {
  const EncodedIds encoded = encode_ids(ids);
  EXPECT_EQ(encoded.form, IdForm::kNumbers);
  return encoded.bytes;
}

TEST(NumberIds, AreWrittenSo) {
  // 7 and, with four numbers between, 12; the row of 12 comes first: k 1, distances 1 and 0.
  EXPECT_EQ(section_of({"12", "7"}), text_of({7, 0, 3, 0, 1 | 1 << 6}));
  // One run from 5 on. k 0: four zeros.
  EXPECT_EQ(section_of({"5", "6", "7", "8"}), text_of({5, 3, 0, 0}));
  // k 2: distances 3, 2, 2, 2.
  EXPECT_EQ(section_of({"8", "7", "6", "5"}), text_of({5, 3, 2 | 3 << 6, 0b101010}));
  // k 0: 0, 10, 110, 10.
  EXPECT_EQ(section_of({"0", "2", "1", "3"}), text_of({0, 3, 0x80, 0b010110}));
  EXPECT_EQ(section_of({"9223372036854775807"}),
            text_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0}));
}

TEST(NumberIds, AnyWidthIsRead) {
  // k 1: 0 0, 0 1, 10 0, 0 1.
  const std::vector<std::byte> bytes = exact_bytes(text_of({0, 3, 1, 0b1000110}));
  const IdSection section(bytes, 4, IdForm::kNumbers, "ids");
  EXPECT_EQ(section.name(0), "0");
  EXPECT_EQ(section.name(1), "2");
  EXPECT_EQ(section.name(2), "1");
  EXPECT_EQ(section.name(3), "3");
}

// Every id is found, and nothing that only means the same number.
void expect_numbers(const std::vector<std::string>& ids) {
  const std::vector<std::byte> bytes = exact_bytes(section_of(ids));
  const auto count = static_cast<std::uint32_t>(ids.size());
  IdSection moved(bytes, count, IdForm::kNumbers, "ids");
  const IdSection section = std::move(moved);
  const std::set<std::string> all(ids.begin(), ids.end());
  for (std::uint32_t row = 0; row < count; ++row) {
    const std::string& id = ids[row];
    ASSERT_EQ(section.name(row), id);
    ASSERT_EQ(section.find(id), row) << id;
    for (const std::string& other :
         {"0" + id, "00" + id, "+" + id, "-" + id, " " + id, id + " ", id + ".0", id + "e0",
          '\0' + id, id + '\0', id.substr(1), id + "0", std::to_string(std::stoull(id) + 1)}) {
      ASSERT_EQ(section.find(other).has_value(), all.contains(other)) << id << " " << other;
    }
  }
  for (const char* const other :
       {"", "x", "-", "18446744073709551616", "18446744073709551623", "9223372036854775808"}) {
    EXPECT_FALSE(section.find(other)) << other;
  }
  EXPECT_FALSE(section.find(std::string(70'000, '1')));
}

TEST(NumberIds, DenseOnes) {
  for (const std::uint32_t count : {1U, 2U, 3U, 63U, 64U, 65U, 128U, 129U, 1000U}) {
    test::Random random(count);
    std::vector<std::string> ids(count);
    for (std::uint32_t i = 0; i < count; ++i) ids[i] = std::to_string(i);
    expect_numbers(ids);
    std::reverse(ids.begin(), ids.end());
    expect_numbers(ids);
    std::shuffle(ids.begin(), ids.end(), random);
    expect_numbers(ids);
    // A run and the order, which is at most w bits a row and 6 bits a block.
    const auto width = count == 1 ? 1U : static_cast<unsigned>(std::bit_width(count - 1));
    const std::uint64_t bits = count * width + 6 * ((std::uint64_t{count} + 63) / 64);
    EXPECT_LE(section_of(ids).size(), 3 + (bits + 7) / 8);
  }
}

TEST(NumberIds, SparseOnes) {
  for (const std::uint32_t count : {1U, 2U, 17U, 300U}) {
    test::Random random(count);
    std::set<std::uint64_t> numbers;
    while (numbers.size() < count) {
      // Of all lengths.
      const std::uint64_t number = std::uint64_t{random()} << 31 | random() >> 1;
      numbers.insert(number >> random() % 63);
    }
    std::vector<std::string> ids;
    for (const std::uint64_t number : numbers) ids.push_back(std::to_string(number));
    expect_numbers(ids);
    std::shuffle(ids.begin(), ids.end(), random);
    expect_numbers(ids);
  }
  expect_numbers({"9223372036854775807", "0"});
  expect_numbers({"9223372036854775806", "9223372036854775807"});
}

TEST(NumberIds, RowsInTheOrderOfTheDataTakeABit) {
  std::vector<std::string> ids(6400);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = std::to_string(i);
  EXPECT_EQ(section_of(ids).size(), 3U + (6400 + 100 * 6) / 8);
  // Ten groups of equal popularity.
  std::vector<std::string> grouped;
  for (std::size_t i = 0; i < ids.size(); ++i) grouped.push_back(ids[i / 640 + i % 640 * 10]);
  EXPECT_LT(section_of(grouped).size(), 6400U * 6 / 8);
}

TEST(Ids, InNoOrderTheyTakeMoreThanTheMost) {
  test::Random random(1);
  for (const std::uint32_t count : {0U, 1U, 2U, 8U, 64U, 100U, 1000U}) {
    for (const char* const prefix : {"", "x"}) {
      std::vector<std::string> ids;
      for (std::uint32_t i = 0; i < count; ++i) ids.push_back(prefix + std::to_string(i * 3 / 2));
      const std::uint64_t most = most_id_bytes(ids);
      EXPECT_LE(encode_ids(ids).bytes.size(), most);
      std::uint64_t largest = 0;
      for (int round = 0; round < 20; ++round) {
        std::shuffle(ids.begin(), ids.end(), random);
        EXPECT_EQ(most_id_bytes(ids), most);
        largest = std::max<std::uint64_t>(largest, encode_ids(ids).bytes.size());
      }
      EXPECT_LE(largest, most);
      EXPECT_GE(largest, most - most / 20) << prefix << count;
    }
  }
}

TEST(NumberIds, OthersStayTexts) {
  for (const char* const other : {"", "x", "007", "00", "-7", "+7", "7 ", " 7", "7.0", "1e3",
                                  "9223372036854775808", "18446744073709551616", "0x7", "\0"}) {
    const std::vector<std::string> ids = {"1", other, "2"};
    EXPECT_EQ(encode_ids(ids).form, IdForm::kTexts) << other;
  }
  EXPECT_EQ(encode_ids({}).form, IdForm::kTexts);
  EXPECT_EQ(encode_ids({}).bytes, "");
  EXPECT_NE(error_of([] {
              encode_ids(std::vector<std::string>{"1", "2", "1"});
            }).find("id '1' is given twice"),
            std::string::npos);
}

// The form "bits" as docs/format.md has it, bit by bit, as zeros and ones.
std::string golomb_by_hand(std::uint64_t number, unsigned k) {
  unsigned group = 0;
  std::uint64_t first = 0;
  for (; number >= first + (std::uint64_t{1} << (group + k)); ++group) {
    first += std::uint64_t{1} << (group + k);
  }
  std::string bits = std::string(group, '1') + '0';
  for (unsigned bit = 0; bit < group + k; ++bit) {
    bits.push_back((number - first) >> bit & 1 ? '1' : '0');
  }
  return bits;
}

void fill_byte(std::string& bits) { bits.resize((bits.size() + 7) / 8 * 8, '0'); }

std::string bytes_of_bits(const std::string& bits) {
  std::string bytes(bits.size() / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bytes[i / 8] = static_cast<char>(bytes[i / 8] | (bits[i] - '0') << i % 8);
  }
  return bytes;
}

std::vector<std::uint64_t> distances_of(const std::vector<std::uint32_t>& list) {
  std::vector<std::uint64_t> distances;
  for (std::size_t i = 0; i < list.size(); ++i) {
    distances.push_back(i == 0 ? list[0] : list[i] - list[i - 1] - 1);
  }
  return distances;
}

unsigned part_of(std::size_t item, std::size_t count) {
  unsigned part = 0;
  while ((part + 1) * count / 8 <= item) ++part;
  return part;
}

std::string bits_by_hand(const Lists& lists, std::uint32_t num_items) {
  const auto widths = static_cast<unsigned>(std::bit_width(num_items));
  std::vector<std::array<std::vector<std::uint64_t>, 8>> parts(widths);
  for (const auto& list : lists) {
    const std::vector<std::uint64_t> distances = distances_of(list);
    for (std::size_t i = 0; i < list.size(); ++i) {
      parts[static_cast<std::size_t>(std::bit_width(list.size())) - 1][part_of(i, list.size())]
          .push_back(distances[i]);
    }
  }
  std::string table;
  std::vector<std::array<unsigned, 8>> best(widths);
  for (unsigned width = 0; width < widths; ++width) {
    for (unsigned part = 0; part < 8; ++part) {
      const auto bits_with = [&](unsigned k) {
        std::size_t bits = 0;
        for (const std::uint64_t distance : parts[width][part]) {
          bits += golomb_by_hand(distance, k).size();
        }
        return bits;
      };
      unsigned& k = best[width][part];
      for (unsigned other = 1; other < 32; ++other) {
        if (bits_with(other) < bits_with(k)) k = other;
      }
      for (unsigned bit = 0; bit < 5; ++bit) table.push_back(k >> bit & 1 ? '1' : '0');
    }
  }
  std::string begins;
  std::string bits;
  std::int64_t before = 0;
  for (std::size_t user = 0; user < lists.size(); ++user) {
    if (user % 32 == 0) {
      fill_byte(bits);
      append(begins, static_cast<std::uint32_t>(bits.size() / 8));
      before = 0;
    }
    const auto length = static_cast<std::int64_t>(lists[user].size());
    const std::int64_t difference = length - before;
    before = length;
    bits += golomb_by_hand(
        static_cast<std::uint64_t>(difference < 0 ? -2 * difference - 1 : 2 * difference), 0);
    const std::vector<std::uint64_t> distances = distances_of(lists[user]);
    for (std::size_t i = 0; i < distances.size(); ++i) {
      const auto width = static_cast<std::size_t>(std::bit_width(distances.size())) - 1;
      bits += golomb_by_hand(distances[i], best[width][part_of(i, distances.size())]);
    }
  }
  fill_byte(bits);
  return begins + bytes_of_bits(table) + bytes_of_bits(bits);
}

std::string bytes_by_hand(const Lists& lists) {
  std::string begins;
  std::string bytes;
  for (std::size_t user = 0; user < lists.size(); ++user) {
    if (user % 32 == 0) append(begins, static_cast<std::uint32_t>(bytes.size()));
    append_base128(bytes, lists[user].size());
    for (const std::uint64_t distance : distances_of(lists[user])) append_base128(bytes, distance);
  }
  return begins + bytes;
}

// Up to `most` items a user; some users have all items, some none.
Lists random_lists(std::uint32_t users, std::uint32_t items, std::uint32_t most) {
  test::Random random(users + items + most);
  Lists lists(users);
  for (auto& list : lists) {
    std::set<std::uint32_t> some;
    for (std::uint32_t i = random() % (most + 1); i > 0; --i) some.insert(random() % items);
    if (random() % 4 == 0) some.insert({0U, items - 1});
    if (random() % 16 == 0 && items <= 100) {
      for (std::uint32_t item = 0; item < items; ++item) some.insert(item);
    }
    list.assign(some.begin(), some.end());
  }
  return lists;
}

void expect_lists(const std::string& text, ListForm form, const Lists& lists, std::uint32_t items) {
  const std::vector<std::byte> bytes = exact_bytes(text);
  const auto users = static_cast<std::uint32_t>(lists.size());
  const InteractionSection section(bytes, form, users, items);
  std::vector<std::uint32_t> degree(items);
  std::uint64_t total = 0;
  for (const auto& list : lists) {
    total += list.size();
    for (const std::uint32_t item : list) ++degree[item];
  }
  EXPECT_EQ(section.num_interactions(), total);
  Lists visited;
  section.for_each([&](std::uint32_t user, std::span<const std::uint32_t> list) {
    EXPECT_EQ(user, visited.size());
    visited.emplace_back(list.begin(), list.end());
  });
  EXPECT_EQ(visited, lists);
  for (std::uint32_t user = 0; user < users; ++user) {
    EXPECT_EQ(section.items_of(user), lists[user]);
  }
  EXPECT_EQ(section.item_degrees(), degree);
}

TEST(Interactions, ComeBackInBothForms) {
  int num_bits_taken = 0;
  int num_bytes_taken = 0;
  for (const std::uint32_t users : {0U, 1U, 31U, 32U, 33U, 100U}) {
    for (const std::uint32_t items : {1U, 7U, 8U, 100U, 70'000U}) {
      for (const std::uint32_t most : {3U, 20U, 300U}) {
        SCOPED_TRACE(testing::Message() << users << " " << items << " " << most);
        const Lists lists = random_lists(users, items, most);
        const std::string bytes = bytes_by_hand(lists);
        const std::string bits = bits_by_hand(lists, items);
        expect_lists(bytes, ListForm::kBytes, lists, items);
        expect_lists(bits, ListForm::kBits, lists, items);
        const EncodedInteractions encoded = encode_interactions(lists, items);
        const bool is_worth = bits.size() + kWorthBits <= bytes.size();
        EXPECT_EQ(encoded.form, is_worth ? ListForm::kBits : ListForm::kBytes);
        EXPECT_EQ(encoded.bytes, is_worth ? bits : bytes);
        ++(is_worth ? num_bits_taken : num_bytes_taken);
      }
    }
  }
  EXPECT_GT(num_bits_taken, 5);
  EXPECT_GT(num_bytes_taken, 5);
}

TEST(Interactions, BitsBetweenBlocksAreZero) {
  Lists lists(33);
  lists[0] = {0};
  std::string bits = bits_by_hand(lists, 1);
  // Two beginnings, five bytes of parameters, and 38 bits before the second block.
  ASSERT_EQ(bits.size(), 8U + 5U + 5U + 1U);
  expect_lists(bits, ListForm::kBits, lists, 1);
  bits[8 + 5 + 4] = static_cast<char>(bits[8 + 5 + 4] | 0x80);
  const std::vector<std::byte> bytes = exact_bytes(bits);
  EXPECT_EQ(error_of([&] { InteractionSection(bytes, ListForm::kBits, 33, 1); }),
            "interactions: bits before byte 5 are not zero");
}

TEST(Interactions, NumbersOfAnySizeComeBackFromBits) {
  BitWriter writer;
  std::vector<std::pair<std::uint64_t, unsigned>> numbers;
  for (unsigned k = 0; k < 32; ++k) {
    for (unsigned bit = 0; bit < 33; ++bit) {
      for (const std::uint64_t number :
           {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit, (std::uint64_t{1} << bit) + 1,
            (std::uint64_t{2} << bit) - 2}) {
        numbers.emplace_back(number, k);
      }
    }
  }
  std::string by_hand;
  for (const auto& [number, k] : numbers) {
    writer.golomb(number, k);
    by_hand += golomb_by_hand(number, k);
    ASSERT_EQ(golomb_bits(number, k), golomb_by_hand(number, k).size());
  }
  fill_byte(by_hand);
  const std::string text = writer.take_bytes();
  ASSERT_EQ(text, bytes_of_bits(by_hand));
  const std::vector<std::byte> bytes = exact_bytes(text);
  BitReader reader(bytes, "numbers");
  TrustedBitReader trusted(bytes, 0);
  for (const auto& [number, k] : numbers) {
    ASSERT_EQ(reader.golomb(k), number) << k;
    ASSERT_EQ(trusted.golomb(k), number) << k;
  }
  reader.expect_end();
}

}  // namespace
}  // namespace bet
