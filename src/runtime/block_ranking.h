#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/norm_section.h"
#include "runtime/row_section.h"

namespace bet {

// Users that are ranked together: each tile of items is decoded once for all of them, and their
// scores come from one matrix product that stays in a core's cache.
constexpr std::size_t kUsersPerBlock = 192;

// One of them.
struct BlockUser {
  std::vector<float> query;             // its vector
  std::vector<std::uint32_t> left_out;  // item rows that it must not get, ascending
};

// Finds for each user of a block a few items, rows ascending, that include its k best by the scores
// that row kernels compute: the sums of the product are in another order, so that it alone cannot
// tell which items are best to the last bit. Keeps its memory, below 1 MiB, for the next block. One
// thread at a time.
class BlockRanking {
 public:
  // The sections must outlive it. With `norms` (not null) scores are divided by the items' lengths.
  BlockRanking(const RowSection& items, const NormSection* norms) : items_(items), norms_(norms) {}

  // candidates[i] are those of users[i]. Returns false, and may leave some out, where values are so
  // large that sums could overflow.
  bool rank(std::span<const BlockUser> users, std::size_t k,
            std::vector<std::vector<std::uint32_t>>& candidates);

 private:
  // What is known of the score of an item: it lies between both.
  struct Bounds {
    std::uint32_t row;
    float lower, upper;
  };
  // The items of a user that may be among the best so far.
  struct Best {
    std::vector<Bounds> items;
    float least;  // the k-th largest lower bound, once there are so many
  };

  void read_tile(std::uint32_t first, std::uint32_t count);
  void pack_queries(std::span<const BlockUser> users);
  void collect(const BlockUser& user, std::span<const float> scores, float error, std::size_t k,
               Best& best) const;
  static void drop_worse(Best& best, std::size_t k);

  const RowSection& items_;
  const NormSection* norms_;
  std::uint32_t first_ = 0;     // the rows of the tile
  std::uint32_t count_ = 0;     // and how many
  std::uint32_t width_ = 0;     // columns up to the last one that the tile has
  std::uint32_t packed_ = 0;    // columns of queries_
  float longest_ = 0;           // the length of its longest row
  std::vector<float> rows_;     // [count, items.width()]
  std::vector<float> columns_;  // [width, count]
  std::vector<float> queries_;  // [users, width]
  std::vector<float> lengths_;  // of the queries
  std::vector<float> scores_;   // [users, count]
  std::vector<Best> best_;
};

}  // namespace bet
