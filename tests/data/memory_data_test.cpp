#include "data/memory_data.h"

#include <gtest/gtest.h>

#include "base/integer_text.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;

TEST(IntegerText, IsTheUsualNotationAlone) {
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("-17"), -17);
  EXPECT_EQ(integer_of("9223372036854775807"), INT64_MAX);
  for (const char* text :
       {"", "-", "-0", "007", "-07", "+3", "3 ", " 3", "3.0", "1e3", "9223372036854775808"}) {
    EXPECT_EQ(integer_of(text), std::nullopt) << text;
  }
}

TEST(MemoryData, IsTheDataSetOfAFileOfTheSameInteractions) {
  const test::TempFolder folder;
  const auto file = folder.write("a.csv", "user,item\n30,b\n4,a\n30,b\n4,c\n-1,a\n");
  MemoryData data({});
  for (const auto& [user, item] : std::initializer_list<std::pair<std::int64_t, const char*>>{
           {4, "c"}, {-1, "a"}, {30, "b"}, {4, "a"}, {30, "b"}}) {
    data.add(data.user(user), data.item(std::string_view(item)), 0);
  }
  const Dataset dataset = data.finish("a", {false, true});
  EXPECT_EQ(dataset.hash(), load_dataset(file).hash());
  EXPECT_EQ(dataset.duplicates, 1U);
  EXPECT_EQ(dataset.text_ids, "");
}

TEST(MemoryData, LeavesOutWhatTheOptionsSay) {
  const test::TempFolder folder;
  const auto file =
      folder.write("a.csv", "user,item,rating,time\n1,2,5,9\n1,2,4,7\n3,2,1,8\n4,4,5,1\n");
  ReadOptions options;
  options.min_rating = 2;
  options.with_times = true;
  options.min_item_inter = 1;
  MemoryData data(options);
  const double rows[][4] = {{1, 2, 5, 9}, {1, 2, 4, 7}, {3, 2, 1, 8}, {4, 4, 5, 1}};
  for (const auto& [user, item, rating, time] : rows) {
    if (data.leaves_out(rating)) continue;
    data.add(data.user(static_cast<std::int64_t>(user)), data.item(static_cast<std::int64_t>(item)),
             time);
  }
  const Dataset dataset = data.finish("a", {});
  EXPECT_EQ(dataset.hash(), load_dataset(file, options).hash());
  EXPECT_EQ(dataset.below_min_rating, 1U);
  EXPECT_EQ(dataset.num_users(), 2U);
}

TEST(MemoryData, KnowsWhereTextsLookLikeIntegers) {
  const auto text_ids = [](std::string_view user, std::string_view item) {
    MemoryData data({});
    data.add(data.user(user), data.item(item), 0);
    return data.finish("a", {true, true}).text_ids;
  };
  EXPECT_EQ(text_ids("1", "2"), "users, items");
  EXPECT_EQ(text_ids("-1", "b"), "users");
  EXPECT_EQ(text_ids("01", "2"), "items");
  EXPECT_EQ(text_ids("a", "b"), "");
}

TEST(MemoryData, RefusesWhatAFileCouldNotHave) {
  MemoryData data({});
  EXPECT_EQ(error_of([&] { data.user(""); }), "empty user id");
  EXPECT_NE(error_of([&] { data.item(std::string(5000, 'x')); }).find("longer than 4096"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { data.finish("mine", {}); }), "mine: no interactions");
}

}  // namespace
}  // namespace bet
