#include "data/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "data/load.h"
#include "data/synthetic.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

using test::error_of;
using test::TempFolder;

std::vector<ItemId> items(std::span<const ItemId> span) { return {span.begin(), span.end()}; }

Dataset one_user(std::uint32_t num_items) {
  Dataset dataset;
  dataset.name = "one";
  dataset.users = IdTable::consecutive(1);
  dataset.items = IdTable::consecutive(num_items);
  for (ItemId item = 0; item < num_items; ++item) dataset.interactions.columns.push_back(item);
  dataset.interactions.offsets.push_back(num_items);
  return dataset;
}

TEST(RandomSplit, CutsAtHalfAndThreeQuartersHalfUp) {
  const std::vector<std::array<std::size_t, 3>> expected = {
      {1, 0, 0}, {1, 1, 0}, {2, 0, 1}, {2, 1, 1}, {3, 1, 1}, {3, 2, 1}, {4, 1, 2}, {4, 2, 2}};
  for (std::uint32_t n = 1; n <= expected.size(); ++n) {
    const Split split = make_split(one_user(n), SplitKind::kRandom, 1);
    EXPECT_EQ(split.train(0).size(), expected[n - 1][0]) << n;
    EXPECT_EQ(split.validation(0).size(), expected[n - 1][1]) << n;
    EXPECT_EQ(split.test(0).size(), expected[n - 1][2]) << n;
  }
}

TEST(RandomSplit, PartsAreSortedDisjointAndComplete) {
  Dataset dataset = synthetic_dataset({});
  std::vector<std::vector<ItemId>> rows;
  for (UserId user = 0; user < dataset.num_users(); ++user) {
    rows.push_back(items(dataset.interactions.row(user)));
  }
  const Split split = make_split(std::move(dataset), SplitKind::kRandom, 1);
  for (UserId user = 0; user < split.num_users(); ++user) {
    std::vector<ItemId> all = items(split.train_and_validation(user));
    all.insert(all.end(), split.test(user).begin(), split.test(user).end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all, rows[user]);
    for (const auto part : {split.train(user), split.validation(user), split.test(user)}) {
      ASSERT_TRUE(std::is_sorted(part.begin(), part.end()));
    }
  }
}

TEST(RandomSplit, IsFixedByTheSeedAndUniform) {
  const auto train_of = [](std::uint64_t seed) {
    return items(make_split(one_user(8), SplitKind::kRandom, seed).train(0));
  };
  EXPECT_EQ(train_of(5), train_of(5));
  std::vector<int> in_train(8, 0);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    for (const ItemId item : train_of(seed)) ++in_train[item];
  }
  for (const int count : in_train) EXPECT_NEAR(count, 2000, 150);
}

TEST(RandomSplit, OfTheDemoIsFrozen) {
  const Split split = make_split(synthetic_dataset({}), SplitKind::kRandom, 1);
  std::uint64_t digest = 0;
  for (UserId user = 0; user < split.num_users(); ++user) {
    for (const ItemId item : split.train(user)) digest = digest * 1000003 + item;
    for (const ItemId item : split.validation(user)) digest = digest * 1000033 + item;
  }
  EXPECT_EQ(digest, 4924928680310136842U);
}

TEST(GivenSplit, TakesTestAsItIsAndATenthOfTrainForValidation) {
  const TempFolder folder;
  std::string train = "0";
  for (int i = 0; i < 25; ++i) train += " " + std::to_string(i);
  folder.write("train.txt", train + "\n1 3 4\n");
  folder.write("test.txt", "0 30 31\n1 5\n");
  const Split split = make_split(load_dataset(folder.path()), SplitKind::kGiven, 1);
  EXPECT_EQ(split.train(0).size(), 22U);
  EXPECT_EQ(split.validation(0).size(), 3U);  // half-up(2.5)
  EXPECT_EQ(items(split.test(0)), (std::vector<ItemId>{25, 26}));
  EXPECT_EQ(split.train(1).size(), 2U);
  EXPECT_EQ(items(split.test(1)), (std::vector<ItemId>{5}));
}

TEST(DenserSplit, MovesTwoThirdsOfValidationToTrainAndLeavesTest) {
  const Split split = make_split(load_dataset("demo"), SplitKind::kRandom, 1);
  const Split denser = denser_split(split, 1);
  const Split again = denser_split(split, 1);
  const Split other = denser_split(split, 2);
  const std::array<Split, kFolds> folds = {denser_split(split, 1), denser_split(split, 1, 1),
                                           denser_split(split, 1, 2)};
  EXPECT_THROW(denser_split(split, 1, kFolds), Error);
  bool differs = false;
  for (UserId user = 0; user < split.num_users(); ++user) {
    const auto sorted = [](std::span<const ItemId> items) {
      std::vector<ItemId> copy(items.begin(), items.end());
      std::sort(copy.begin(), copy.end());
      return copy;
    };
    EXPECT_TRUE(std::ranges::equal(denser.test(user), split.test(user)));
    EXPECT_EQ(sorted(denser.train_and_validation(user)), sorted(split.train_and_validation(user)));
    EXPECT_TRUE(std::ranges::includes(denser.train(user), split.train(user)));
    EXPECT_TRUE(std::ranges::includes(split.validation(user), denser.validation(user)));
    EXPECT_TRUE(std::ranges::equal(denser.validation(user), again.validation(user)));
    differs = differs || !std::ranges::equal(denser.validation(user), other.validation(user));
    std::vector<ItemId> held;
    for (std::uint32_t fold = 0; fold < kFolds; ++fold) {
      const auto third = folds[fold].validation(user);
      held.insert(held.end(), third.begin(), third.end());
    }
    EXPECT_EQ(sorted(held), sorted(split.validation(user))) << "each item in one fold";
  }
  EXPECT_TRUE(differs);
  const double held = static_cast<double>(denser.counts().validation);
  EXPECT_NEAR(held / static_cast<double>(split.counts().validation), 1.0 / 3, 0.02);
}

TEST(SplitNote, TellsOfATestPartThatIsNotUsed) {
  const TempFolder folder;
  folder.write("train.txt", "0 1 2 3\n");
  Dataset alone = load_dataset(folder.path());
  EXPECT_EQ(split_note(alone, SplitKind::kRandom), "");
  folder.write("test.txt", "0 4\n");
  Dataset dataset = load_dataset(folder.path());
  EXPECT_EQ(split_note(dataset, SplitKind::kGiven), "");
  make_split(std::move(dataset.interactions), dataset.num_items(), SplitKind::kRandom, 1);
  EXPECT_EQ(dataset.num_interactions(), 0U) << "the split has taken them";
  const std::string note = split_note(dataset, SplitKind::kRandom);
  EXPECT_NE(note.find("--split random does not use"), std::string::npos) << note;
  EXPECT_NE(note.find("--split given"), std::string::npos) << note;
}

TEST(TimeSplit, PutsTheEarliestIntoTrain) {
  const TempFolder folder;
  ReadOptions options;
  options.with_times = true;
  Dataset dataset = load_dataset(
      folder.write("a.tsv", "1\t10\t5\t400\n1\t11\t5\t100\n1\t12\t5\t300\n1\t13\t5\t200\n"),
      options);
  const Split split = make_split(std::move(dataset), SplitKind::kTime, 1);
  EXPECT_EQ(items(split.train(0)), (std::vector<ItemId>{1, 3}));
  EXPECT_EQ(items(split.validation(0)), (std::vector<ItemId>{2}));
  EXPECT_EQ(items(split.test(0)), (std::vector<ItemId>{0}));
}

TEST(TimeSplit, OrdersDates) {
  const TempFolder folder;
  ReadOptions options;
  options.with_times = true;
  Dataset dataset =
      load_dataset(folder.write("a.csv",
                                "user,item,date\n1,10,2024-03-01T12:30:05Z\n1,11,2023-12-31\n"
                                "1,12,2024-03-01 12:30:04.5\n1,13,2024-03-01T13:30:04+02:00\n"),
                   options);
  const Split split = make_split(std::move(dataset), SplitKind::kTime, 1);
  EXPECT_EQ(items(split.train(0)), (std::vector<ItemId>{1, 3}));
  EXPECT_EQ(items(split.validation(0)), (std::vector<ItemId>{2}));
  EXPECT_EQ(items(split.test(0)), (std::vector<ItemId>{0}));
}

TEST(Split, SaysWhatTheDataLacks) {
  Interactions four = one_user(4).interactions;
  EXPECT_NE(
      error_of([&] { make_split(std::move(four), 4, SplitKind::kGiven, 1); }).find("test part"),
      std::string::npos);
  EXPECT_NE(
      error_of([&] { make_split(std::move(four), 4, SplitKind::kTime, 1); }).find("time column"),
      std::string::npos);
  EXPECT_EQ(four.num_entries(), 4U) << "nothing was taken";
  EXPECT_THROW(parse_split_kind("half"), Error);
}

}  // namespace
}  // namespace bet
