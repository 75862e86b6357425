#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bet/model.h"
#include "runtime/row_section.h"

namespace bet {

// The scores of ncf (docs/format.md: "What is served"), folded so that a request is one dot product
// with the stored rows and one pass over the items' hidden units: the weights of the products go
// into the user's row; as head * max(x, 0) = sign(head) * max(|head| x, 0), the head goes into the
// hidden units of both sides, those that count first, those that count against after them.
class NcfScorer {
 public:
  NcfScorer() = default;
  // `width` is W: columns of a row as the weights take them. Makes the hidden units of all items,
  // on all cores; the same on any number of them.
  NcfScorer(const RowSection& items, std::uint32_t num_items, std::uint32_t width,
            const std::vector<DenseWeights>& weights);

  // From a user's stored row, [2 W]: what it is multiplied with (the dot products with items'
  // stored rows are the products' part of the scores), and its hidden units.
  void fold_user(std::span<const float> row, std::vector<float>& query,
                 std::vector<float>& hidden) const;
  // Adds the hidden units' part to the scores of the items from `first` on.
  void add_hidden(const std::vector<float>& hidden, std::uint32_t first,
                  std::span<float> scores) const;

  // Memory it has filled.
  std::uint64_t bytes() const;

 private:
  std::uint32_t width_ = 0;
  std::uint32_t positive_ = 0;        // hidden units whose head is not negative: the first ones
  std::vector<float> head_products_;  // [W]
  std::vector<float> user_weights_;   // [W, units]
  std::vector<float> user_bias_;      // [units]
  std::vector<float> item_units_;     // [items, units]
};

}  // namespace bet
