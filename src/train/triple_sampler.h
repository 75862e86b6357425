#pragma once

#include <cstdint>
#include <vector>

#include "model/graph.h"
#include "model/triple_batch.h"

namespace bet {

// How the users of a batch are chosen.
enum class BatchKind {
  kUsers,         // distinct users, uniformly; again and again where there are fewer than triples
  kInteractions,  // the users of uniformly drawn interactions
};

// Draws batches: a user, one of its items, and an item that it has not, each uniformly. A triple is
// a function of seed, step and its place alone (Philox), so any device or thread count draws the
// same. `graph` must outlive the sampler. Any thread may draw.
class TripleSampler {
 public:
  TripleSampler(const Graph& graph, std::uint64_t seed);

  // Users with interactions.
  std::uint32_t num_users() const { return static_cast<std::uint32_t>(users_.size()); }

  // Fills the whole of `batch`, whose size says how many.
  void draw(std::uint64_t step, BatchKind kind, TripleBatch& batch) const;

 private:
  void draw_one(std::uint64_t step, std::size_t place, std::uint32_t user, std::uint64_t positive,
                TripleBatch& batch) const;
  bool has_item(std::uint32_t user, std::uint32_t node) const;

  const Graph& graph_;
  const std::int64_t* offsets_;
  const std::int32_t* columns_;
  std::array<std::uint32_t, 2> user_key_;
  std::array<std::uint32_t, 2> item_key_;
  std::vector<std::uint32_t> users_;  // with at least one item
};

// A pseudo-random permutation of 0 .. count-1, by its place: a Feistel network that walks its cycle
// until it is inside. Distinct places give distinct values, without a table or an order.
std::uint32_t permuted(std::uint32_t place, std::uint32_t count,
                       const std::array<std::uint32_t, 4>& key);

}  // namespace bet
