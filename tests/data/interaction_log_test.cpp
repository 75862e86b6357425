#include "data/interaction_log.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>

#include "support/expect_error.h"

namespace bet {
namespace {

std::vector<std::uint32_t> identity(std::uint32_t count) {
  std::vector<std::uint32_t> map(count);
  std::iota(map.begin(), map.end(), 0U);
  return map;
}

// The plain implementation to compare with: a map from user to its items with their earliest times.
TEST(InteractionLog, EqualsAMapOfMaps) {
  std::mt19937 random(5);
  for (const std::uint32_t num_users : {1U, 7U, 600U, 5000U}) {
    const std::uint32_t num_items = 40;
    std::vector<std::uint32_t> new_user = identity(num_users);
    std::vector<std::uint32_t> new_item = identity(num_items);
    std::shuffle(new_user.begin(), new_user.end(), random);
    std::shuffle(new_item.begin(), new_item.end(), random);
    InteractionLog log({.with_times = true});
    std::map<UserId, std::map<ItemId, double>> expected;
    for (int i = 0; i < 20'000; ++i) {
      const auto user = static_cast<UserId>(random() % num_users);
      const auto item = static_cast<ItemId>(random() % num_items);
      const double time = static_cast<double>(random() % 1000);
      log.add(user, item, false, time);
      auto& row = expected[new_user[user]];
      const auto [it, added] = row.try_emplace(new_item[item], time);
      if (!added) it->second = std::min(it->second, time);
    }
    const LoggedRows rows = log.finish(new_user, new_item);
    ASSERT_EQ(rows.interactions.num_rows(), num_users);
    std::uint64_t entry = 0;
    for (UserId user = 0; user < num_users; ++user) {
      ASSERT_EQ(rows.interactions.row(user).size(), expected[user].size());
      for (const auto& [item, time] : expected[user]) {
        ASSERT_EQ(rows.interactions.columns[entry], item);
        ASSERT_EQ(rows.interactions.times[entry], time);
        ++entry;
      }
    }
    EXPECT_EQ(rows.duplicates, 20'000 - entry);
    EXPECT_EQ(log.size(), 0U);
  }
}

TEST(InteractionLog, FindsTheUserOrTheItemOfAPairInOthers) {
  for (const bool with_parts : {false, true}) {
    InteractionLog log({.with_parts = with_parts});
    log.add(0, 1, false, 0);
    log.add(1, 0, false, 0);
    log.add(2, 2, false, 0);
    EXPECT_FALSE(log.occurs_again(0));
    log.add(3, 1, true, 0);
    log.add(1, 3, true, 0);
    EXPECT_TRUE(log.occurs_again(0)) << "the item, in the other part";
    EXPECT_TRUE(log.occurs_again(1)) << "the user";
    EXPECT_TRUE(log.occurs_again(4)) << "in an earlier pair";
    EXPECT_FALSE(log.occurs_again(2));
  }
}

TEST(InteractionLog, HoldsMoreUsersThanFitIntoThreeBytes) {
  constexpr UserId kLast = (1U << 24) + 3;
  InteractionLog log({});
  for (UserId user = 0; user < 1000; ++user) log.add(user, user % 10, false, 0);
  log.add(kLast, 0xfffffffeU % 10, false, 0);
  log.add(kLast - 1, 7, false, 0);
  log.add(3, 9, false, 0);
  const LoggedRows rows = log.finish(identity(kLast + 1), identity(10));
  EXPECT_EQ(rows.interactions.row(kLast)[0], 4U);
  EXPECT_EQ(rows.interactions.row(kLast - 1)[0], 7U);
  ASSERT_EQ(rows.interactions.row(3).size(), 2U);
  EXPECT_EQ(rows.interactions.row(3)[1], 9U);
  EXPECT_EQ(rows.interactions.row(999)[0], 9U);
  EXPECT_EQ(rows.interactions.num_entries(), 1003U);
}

TEST(InteractionLog, RefusesItemsThatWouldLoseTheirMark) {
  InteractionLog log({.with_parts = true});
  EXPECT_NE(test::error_of([&] { log.add(0, 1U << 31, false, 0); }).find("2147483648"),
            std::string::npos);
}

}  // namespace
}  // namespace bet
