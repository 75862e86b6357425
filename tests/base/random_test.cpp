#include "base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace bet {
namespace {

// Known-answer vectors published with Random123 (kat_vectors, philox4x32 10 rounds).
TEST(Philox, MatchesThePublishedVectors) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  EXPECT_EQ(
      philox4x32({0xffffffffU, 0xffffffffU, 0xffffffffU, 0xffffffffU}, {0xffffffffU, 0xffffffffU}),
      (Words{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  EXPECT_EQ(
      philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
      (Words{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

std::vector<std::uint32_t> first_words(std::uint64_t seed, const char* purpose,
                                       std::uint64_t index) {
  RandomStream random(seed, purpose, index);
  std::vector<std::uint32_t> words;
  for (int i = 0; i < 100; ++i) words.push_back(random.next_u32());
  return words;
}

TEST(RandomStream, DependsOnSeedPurposeAndIndexOnly) {
  EXPECT_EQ(first_words(1, "split", 7), first_words(1, "split", 7));
  EXPECT_NE(first_words(1, "split", 7), first_words(2, "split", 7));
  EXPECT_NE(first_words(1, "split", 7), first_words(1, "plans", 7));
  EXPECT_NE(first_words(1, "split", 7), first_words(1, "split", 8));
}

TEST(RandomStream, UniformStaysInsideAndHasTheRightMoments) {
  RandomStream random(3, "test");
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.003);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3.0, 0.003);
}

TEST(RandomStream, NormalHasTheRightMoments) {
  RandomStream random(5, "test");
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
    beyond_two += z > 2.0 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.015);
  EXPECT_NEAR(beyond_two / static_cast<double>(kDraws), 0.02275, 0.0015);
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream random(4, "test");
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

}  // namespace
}  // namespace bet
