#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/scorer.h"

namespace bet {

// Scores from vectors in memory: those of the file, or those computed when it was opened.
class DotScorer final : public VectorScorer {
 public:
  // `values`: the memory that the rows are views of, where that is not the file.
  DotScorer(RowSection users, RowSection items, const ScorerInput& input,
            std::vector<float> values = {});

  std::uint32_t dimension() const override { return width_; }
  void user_vector(std::uint32_t user, Scratch& scratch) const override;
  void item_vector(std::uint32_t item, Scratch& scratch) const override;
  std::span<const float> stored_user_vectors() const override { return users_.plain(width_); }
  std::span<const float> stored_item_vectors() const override { return items_.plain(width_); }
  const RowSection* item_rows() const override { return &items_; }
  std::uint64_t bytes() const override { return values_.size() * sizeof(float); }

 private:
  void mean_vector(std::span<const std::uint32_t> items, Scratch& scratch) const override;
  void score_query(const Candidates* only, Scratch& scratch) const override;

  std::vector<float> values_;
  RowSection users_, items_;
  std::uint32_t width_;
};

}  // namespace bet
