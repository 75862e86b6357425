#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

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
    const std::vector<std::byte> bytes = exact_bytes(encode_ids(ids));
    const IdSection section(bytes, count, "ids");
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
  const std::vector<std::byte> bytes = exact_bytes(encode_ids(ids));
  // Rows by text: a (1), 7f (2), 80 (3), ff (0), two bits each behind the one block.
  EXPECT_EQ(std::to_integer<int>(bytes[4]), 1 | 2 << 2 | 3 << 4 | 0 << 6);
  EXPECT_EQ(IdSection(bytes, 4, "ids").find("\xff"), 0U);
}

TEST(Ids, LongestIsTakenLongerIsNot) {
  std::vector<std::string> ids = {std::string(65'535, 'x')};
  const std::vector<std::byte> bytes = exact_bytes(encode_ids(ids));
  EXPECT_EQ(IdSection(bytes, 1, "ids").find(ids[0]), 0U);
  ids[0] += 'x';
  EXPECT_NE(error_of([&] { encode_ids(ids); }).find("65536 bytes"), std::string::npos);
}

TEST(Ids, EqualOnesAreRefused) {
  EXPECT_NE(error_of([] {
              encode_ids(std::vector<std::string>{"a", "b", "a"});
            }).find("id 'a' is given twice"),
            std::string::npos);
}

TEST(Interactions, ComeBack) {
  for (const std::uint32_t users : {0U, 1U, 31U, 32U, 33U, 100U}) {
    for (const std::uint32_t items : {1U, 100U, 70'000U}) {
      test::Random random(users + items);
      Lists lists(users);
      std::vector<std::uint32_t> degree(items);
      std::uint64_t total = 0;
      for (auto& list : lists) {
        std::set<std::uint32_t> some;
        for (std::uint32_t i = random() % 20; i > 0; --i) some.insert(random() % items);
        if (random() % 4 == 0) some.insert({0U, items - 1});
        list.assign(some.begin(), some.end());
        total += list.size();
        for (const std::uint32_t item : list) ++degree[item];
      }
      const std::vector<std::byte> bytes = exact_bytes(encode_interactions(lists));
      const InteractionSection section(bytes, users, items);
      EXPECT_EQ(section.num_interactions(), total);
      Lists visited;
      section.for_each([&](std::uint32_t user, std::span<const std::uint32_t> list) {
        EXPECT_EQ(user, visited.size());
        visited.emplace_back(list.begin(), list.end());
      });
      EXPECT_EQ(visited, lists);
      for (std::uint32_t user = 0; user < users; ++user)
        EXPECT_EQ(section.items_of(user), lists[user]);
      ASSERT_EQ(section.item_root().size(), items);
      for (std::uint32_t item = 0; item < items; ++item) {
        const double root =
            degree[item] == 0 ? 0 : 1 / std::sqrt(static_cast<double>(degree[item]));
        ASSERT_NEAR(section.item_root()[item], root, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace bet
