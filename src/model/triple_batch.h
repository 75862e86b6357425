#pragma once

#include <cstdint>
#include <vector>

#include "model/graph.h"

namespace bet {

// A batch of (user, positive item, negative item) as rows of the joint table: items are offset by
// the number of users. Reused from step to step.
struct TripleBatch {
  std::vector<std::uint32_t> users;
  std::vector<std::uint32_t> positives;
  std::vector<std::uint32_t> negatives;

  std::size_t size() const { return users.size(); }
  void resize(std::size_t size);
};

// The batch seen from the rows: row r takes part in the entries offsets[r] .. offsets[r+1], each a
// row on the other side of a score and the triple with the sign of that score in it. In a fixed
// order, so that sums over a row do not depend on threads.
struct BatchEntries {
  std::vector<std::uint64_t> offsets;    // rows + 1
  std::vector<std::uint32_t> columns;    // by entry, and kColumnSlack more
  std::vector<std::uint32_t> triples;    // by entry: triple * 2 + (1 for the negative's score)
  std::vector<std::uint32_t> row_count;  // by row: places it has in the batch's triples

  void build(const TripleBatch& batch, std::uint32_t num_rows);
};

}  // namespace bet
