#include "base/nearest_word.h"

#include <gtest/gtest.h>

#include <vector>

namespace bet {
namespace {

TEST(NearestWord, DistanceCountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("budget", "budget"), 0U);
  EXPECT_EQ(edit_distance("bugdet", "budget"), 1U) << "two neighbours swapped";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("fit", "ft"), 1U);
}

TEST(NearestWord, IsTheOneThatWasMostLikelyMeant) {
  const std::vector<std::string> words = {"fit", "evaluate", "export", "plan", "resume"};
  EXPECT_EQ(nearest_word("evalaute", words), "evaluate");
  EXPECT_EQ(nearest_word("eval", words), "evaluate");
  EXPECT_EQ(nearest_word("exprot", words), "export");
  EXPECT_EQ(nearest_word("fti", words), "fit");
  EXPECT_EQ(nearest_word("zzz", words), "");
  EXPECT_EQ(nearest_word("e", words), "") << "it could be anything";
  EXPECT_EQ(nearest_word("", words), "");
  EXPECT_EQ(nearest_word("x", {}), "");
}

}  // namespace
}  // namespace bet
