#include "data/dataset.h"

#include <gtest/gtest.h>

#include "data/load.h"
#include "data/statistics.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::TempFolder;

TEST(KeepCore, DropsUntilNothingMoreFalls) {
  const TempFolder folder;
  // User c is dropped first; then item y has one user left, and then user b has one item.
  const auto file = folder.write("a.csv", "user,item\na,w\na,x\nd,w\nd,x\nb,w\nb,y\nc,y\n");
  ReadOptions options;
  options.min_user_inter = 2;
  options.min_item_inter = 2;
  const Dataset dataset = load_dataset(file, options);
  ASSERT_EQ(dataset.num_users(), 2U);
  EXPECT_EQ(dataset.users.name(0), "a");
  EXPECT_EQ(dataset.users.name(1), "d");
  ASSERT_EQ(dataset.num_items(), 2U);
  EXPECT_EQ(dataset.items.name(1), "x");
  EXPECT_EQ(dataset.num_interactions(), 4U);
  for (UserId user = 0; user < 2; ++user) {
    EXPECT_EQ(dataset.interactions.row(user)[0], 0U);
    EXPECT_EQ(dataset.interactions.row(user)[1], 1U);
  }
}

TEST(KeepCore, SaysWhenNothingRemains) {
  const TempFolder folder;
  ReadOptions options;
  options.min_item_inter = 5;
  const auto file = folder.write("a.csv", "user,item\n1,2\n");
  EXPECT_NE(test::error_of([&] { load_dataset(file, options); }).find("--min-item-inter 5"),
            std::string::npos);
}

TEST(KeepCore, KeepsPartsAndTimesBesideTheirPairs) {
  Dataset dataset;
  dataset.users = IdTable::consecutive(3);
  dataset.items = IdTable::consecutive(3);
  dataset.interactions.offsets = {0, 2, 3, 5};
  for (const ItemId item : {0U, 1U, 2U, 0U, 1U}) dataset.interactions.columns.push_back(item);
  for (const double time : {10., 11., 22., 30., 31.}) dataset.interactions.times.push_back(time);
  dataset.interactions.in_test = {false, true, true, true, false};
  keep_core(dataset, 2, 0);
  EXPECT_EQ(dataset.num_users(), 2U);
  EXPECT_EQ(dataset.interactions.in_test, (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(dataset.interactions.times[2], 30.0);
}

TEST(Statistics, AreCountedByHand) {
  const TempFolder folder;
  const Dataset dataset =
      load_dataset(folder.write("a.csv", "user,item\n1,1\n1,2\n1,3\n2,1\n3,1\n3,2\n"));
  const DatasetStatistics statistics = describe(dataset);
  EXPECT_DOUBLE_EQ(statistics.density, 6.0 / 9.0);
  EXPECT_EQ(statistics.per_user.min, 1U);
  EXPECT_EQ(statistics.per_user.median, 2U);
  EXPECT_EQ(statistics.per_user.max, 3U);
  EXPECT_EQ(statistics.per_item.max, 3U);
}

}  // namespace
}  // namespace bet
