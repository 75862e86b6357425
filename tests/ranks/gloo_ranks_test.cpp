#include "ranks/gloo_ranks.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/stopwatch.h"
#include "support/rank_threads.h"

namespace bet {
namespace {

using test::errors_of_ranks;
using test::run_ranks;

template <typename T>
std::span<const std::byte> read(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <typename T>
std::span<std::byte> write(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

TEST(GlooRanks, EveryCallDoesWhatItSays) {
  for (const std::uint32_t size : {1U, 2U, 3U, 4U}) {
    run_ranks(size, [&](RankGroup& ranks) {
      const int rank = static_cast<int>(ranks.rank());
      const int count = static_cast<int>(size);
      ASSERT_EQ(ranks.size(), size);
      std::vector<float> first = {1.0F, static_cast<float>(rank)};
      std::vector<float> second = {0.5F};
      const auto sum = ranks.start_sum(first);
      ranks.start_sum(second)->wait();
      sum->wait();
      const auto pairs = static_cast<float>(count * (count - 1) / 2);
      EXPECT_EQ(first, (std::vector<float>{static_cast<float>(count), pairs}));
      EXPECT_EQ(second[0], 0.5F * static_cast<float>(count));

      const std::vector<int> own = {rank, 10 * rank};
      std::vector<int> all(2 * size);
      std::vector<int> expected;
      for (int r = 0; r < count; ++r) expected.insert(expected.end(), {r, 10 * r});
      ranks.gather_to_all(read(own), write(all));
      EXPECT_EQ(all, expected);
      std::vector<int> gathered(rank == 0 ? all.size() : 0);
      ranks.gather(read(own), write(gathered));
      if (rank == 0) {
        EXPECT_EQ(gathered, expected);
      }

      std::vector<int> part(2);
      ranks.scatter(read(gathered), write(part));
      EXPECT_EQ(part, own);

      std::vector<int> to(size);
      for (int r = 0; r < count; ++r) to[r] = 100 * rank + r;
      std::vector<int> from(size);
      ranks.exchange(read(to), write(from));
      for (int r = 0; r < count; ++r) EXPECT_EQ(from[r], 100 * r + rank);

      std::vector<int> said = {rank == 0 ? 7 : 0};
      ranks.broadcast(write(said));
      EXPECT_EQ(said[0], 7);
      double number = rank;
      ranks.sum(std::span(&number, 1));
      EXPECT_EQ(number, count * (count - 1) / 2);
    });
  }
}

TEST(GlooRanks, SumsHaveTheSameBitsOnEveryRank) {
  constexpr std::uint32_t kSize = 3;
  std::vector<std::vector<float>> sums(kSize);
  run_ranks(kSize, [&](RankGroup& ranks) {
    std::vector<float> values(100'003);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 1.0F / static_cast<float>(1 + (i * (7 + ranks.rank())) % 1013);
    }
    ranks.start_sum(values)->wait();
    sums[ranks.rank()] = values;
  });
  EXPECT_EQ(sums[1], sums[0]);
  EXPECT_EQ(sums[2], sums[0]);
}

TEST(GlooRanks, ALostRankIsNoticedAndTheErrorNamesWhoNoticed) {
  const Stopwatch watch;
  const std::vector<std::string> errors = errors_of_ranks(
      3,
      [](RankGroup& ranks) {
        double own = 1;
        ranks.sum(std::span(&own, 1));
        if (ranks.rank() == 1) return;
        for (int call = 0; call < 3; ++call) ranks.sum(std::span(&own, 1));
      },
      std::chrono::seconds(5));
  EXPECT_EQ(errors[1], "");
  for (const std::uint32_t rank : {0U, 2U}) {
    EXPECT_EQ(errors[rank].find("rank " + std::to_string(rank) + " of 3 at 127.0.0.1: adding up"),
              0U)
        << errors[rank];
  }
  EXPECT_LT(watch.seconds(), 15);
}

TEST(GlooRanks, ARankThatDoesNotComeIsWaitedForNoLongerThanTheTimeout) {
  const Stopwatch watch;
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::string text;
  try {
    join_gloo_ranks(
        store, {.rank = 0, .size = 2, .address = "127.0.0.1", .timeout = std::chrono::seconds(1)});
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_EQ(text.find("rank 0 of 2 at 127.0.0.1: meeting the other ranks failed"), 0U) << text;
  EXPECT_LT(watch.seconds(), 10);
}

}  // namespace
}  // namespace bet
