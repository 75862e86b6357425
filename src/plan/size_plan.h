#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/budget.h"

namespace bet {

// An embedding size for every user and every item (the paper's action *a*). Row n of the table
// keeps its first sizes[n] columns. Invariant: every size lies within [min_dim, max_dim] of its
// shape. Immutable; any thread may read.
class SizePlan {
 public:
  // Throws if a count or a size does not fit the shape.
  SizePlan(const TableShape& shape, std::vector<std::uint16_t> user_sizes,
           std::vector<std::uint16_t> item_sizes);

  const TableShape& shape() const { return shape_; }
  std::span<const std::uint16_t> user_sizes() const { return user_sizes_; }
  std::span<const std::uint16_t> item_sizes() const { return item_sizes_; }
  // Of all tables together.
  std::uint64_t num_params() const { return num_params_; }

  // Rows of each size, by size: 0 to max_dim.
  std::span<const std::uint32_t> user_counts() const { return user_counts_; }
  std::span<const std::uint32_t> item_counts() const { return item_counts_; }

  // Of the table as stored.
  std::uint64_t stored_bytes(Precision precision) const;

  // W: no wider table is ever needed to train this plan.
  std::uint32_t largest_size() const { return largest_size_; }

  friend bool operator==(const SizePlan& a, const SizePlan& b) {
    return a.user_sizes_ == b.user_sizes_ && a.item_sizes_ == b.item_sizes_;
  }

 private:
  TableShape shape_;
  std::vector<std::uint16_t> user_sizes_;
  std::vector<std::uint16_t> item_sizes_;
  std::vector<std::uint32_t> user_counts_;
  std::vector<std::uint32_t> item_counts_;
  std::uint64_t num_params_ = 0;
  std::uint32_t largest_size_ = 0;
};

// Every row at max_dim.
SizePlan full_plan(const TableShape& shape);

// ES: floor(params / (rows * tables)) for every row, so up to one parameter a row stays unused.
SizePlan equal_plan(const TableShape& shape, std::uint64_t params);

// MR: sizes drawn uniformly, regardless of frequency, then single steps at uniformly chosen rows
// until they sum to `params` exactly (BASELINES 1.6), or to one below where that is odd and rows
// have two embeddings.
SizePlan mixed_random_plan(const TableShape& shape, std::uint64_t params, std::uint64_t seed);

}  // namespace bet
