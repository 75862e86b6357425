#include "data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "data/load.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace bet {
namespace {

// `demo` must not change: figures in the docs depend on it. If this fails, the generator has
// changed.
TEST(Demo, IsFrozen) {
  const Dataset demo = load_dataset("demo");
  EXPECT_EQ(demo.num_users(), 2000U);
  EXPECT_EQ(demo.num_items(), 1500U);
  EXPECT_EQ(demo.num_interactions(), 60'000U);
  EXPECT_EQ(demo.hash(), "80699eb55f306d049f0bedbc94a8b8de");
}

TEST(Synthetic, WrittenAndReadAgainIsTheSame) {
  const test::TempFolder folder;
  SyntheticOptions options;
  options.num_users = 300;
  options.num_items = 4000;  // many are never drawn
  options.num_interactions = 3000;
  const Dataset dataset = synthetic_dataset(options);
  EXPECT_LT(dataset.num_items(), 4000U);
  for (const char* name : {"a.csv", "a.tsv", "a.inter"}) {
    write_interactions(dataset, folder / name);
    EXPECT_EQ(load_dataset(folder / name).hash(), dataset.hash()) << name;
  }
  EXPECT_THROW(write_interactions(dataset, folder / "a.xls"), Error);
}

TEST(Synthetic, HasHeavyTailsOnBothSides) {
  const Dataset dataset = synthetic_dataset({});
  std::vector<std::uint64_t> per_item(dataset.num_items(), 0);
  for (const ItemId item : dataset.interactions.columns.span()) ++per_item[item];
  std::sort(per_item.rbegin(), per_item.rend());
  std::uint64_t top_tenth = 0;
  for (std::size_t i = 0; i < per_item.size() / 10; ++i) top_tenth += per_item[i];
  EXPECT_GT(top_tenth * 10, dataset.num_interactions() * 3) << "a tenth of the items has over 30 %";
}

TEST(Synthetic, SeedsGiveDifferentData) {
  SyntheticOptions options;
  options.seed = 2;
  EXPECT_NE(synthetic_dataset(options).hash(), synthetic_dataset({}).hash());
}

TEST(Synthetic, RefusesWhatCannotBe) {
  SyntheticOptions options;
  options.num_interactions = 2'000'000;
  EXPECT_NE(test::error_of([&] { synthetic_dataset(options); }).find("2000000"), std::string::npos);
  options.num_interactions = 0;
  EXPECT_THROW(synthetic_dataset(options), Error);
}

TEST(Synthetic, DenseAndTinyRequestsEnd) {
  SyntheticOptions options;
  options.num_users = 3;
  options.num_items = 4;
  options.num_clusters = 7;
  options.num_interactions = 6;
  EXPECT_LE(synthetic_dataset(options).num_interactions(), 6U);
}

}  // namespace
}  // namespace bet
