#include "data/id_table.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace bet {
namespace {

TEST(IdBuilder, SortsPlainIntegersAsNumbers) {
  IdBuilder builder("users", 100);
  EXPECT_EQ(builder.index_of("10"), 0U);
  EXPECT_EQ(builder.index_of("9"), 1U);
  EXPECT_EQ(builder.index_of("10"), 0U);
  EXPECT_EQ(builder.index_of("0"), 2U);
  const IdBuilder::Result ids = builder.finish();
  EXPECT_EQ(ids.new_index, (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_EQ(ids.table.name(0), "0");
  EXPECT_EQ(ids.table.name(2), "10");
  EXPECT_EQ(ids.table.find("9"), 1U);
  EXPECT_FALSE(ids.table.find("09"));
  EXPECT_FALSE(ids.table.find("8"));
}

TEST(IdBuilder, KeepsTextExactly) {
  IdBuilder builder("users", 100);
  for (const char* id : {"7", "alice", "007", "b\xc3\xb6", "-1", "18446744073709551616"}) {
    builder.index_of(id);
  }
  EXPECT_EQ(builder.index_of("7"), 0U) << "integers before the first text keep their indices";
  EXPECT_EQ(builder.index_of("007"), 2U);
  const IdTable table = builder.finish().table;
  EXPECT_EQ(table.size(), 6U);
  for (const char* id : {"7", "alice", "007", "b\xc3\xb6", "-1", "18446744073709551616"}) {
    const auto index = table.find(id);
    ASSERT_TRUE(index) << id;
    EXPECT_EQ(table.name(*index), id);
  }
  EXPECT_FALSE(table.find("bob"));
}

TEST(IdBuilder, HoldsManyIdsOfBothKinds) {
  for (const char* prefix : {"", "user-"}) {
    IdBuilder builder("users", 1'000'000);
    for (std::uint32_t i = 0; i < 50'000; ++i) {
      ASSERT_EQ(builder.index_of(prefix + std::to_string(i * 7919)), i);
    }
    for (std::uint32_t i = 0; i < 50'000; ++i) {
      ASSERT_EQ(builder.index_of(prefix + std::to_string(i * 7919)), i);
    }
    const IdBuilder::Result ids = builder.finish();
    for (std::uint32_t i = 0; i < 50'000; i += 97) {
      ASSERT_EQ(ids.table.find(prefix + std::to_string(i * 7919)), ids.new_index[i]);
    }
  }
}

TEST(IdBuilder, RefusesMoreThanItsLimit) {
  IdBuilder builder("items", 2);
  builder.index_of("a");
  builder.index_of("b");
  builder.index_of("a");
  EXPECT_EQ(test::error_of([&] { builder.index_of("c"); }), "more than 2 different items");
}

TEST(IdTable, SubsetKeepsNamesAndOrder) {
  for (const char* prefix : {"", "x"}) {
    IdBuilder builder("items", 10);
    for (int i = 0; i < 5; ++i) builder.index_of(prefix + std::to_string(i));
    const IdTable table = builder.finish().table.subset(std::vector<std::uint32_t>{1, 3});
    ASSERT_EQ(table.size(), 2U);
    EXPECT_EQ(table.name(0), prefix + std::string("1"));
    EXPECT_EQ(table.find(prefix + std::string("3")), 1U);
    EXPECT_FALSE(table.find(prefix + std::string("2")));
  }
}

}  // namespace
}  // namespace bet
