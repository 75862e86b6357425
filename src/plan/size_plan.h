#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/precision.h"
#include "plan/budget.h"

namespace bet {

// What a model file stores of each user and item: its row of the table, or the vector that a graph
// backbone makes of all rows (a file without a graph).
enum class StoredForm : std::uint8_t { kTable, kVectors };

constexpr std::string_view form_name(StoredForm form) {
  return form == StoredForm::kVectors ? "vectors" : "table";
}

// An embedding size for every user and every item (the action a of the BET paper, Section 3.2). Row
// n of the table keeps its first sizes[n] columns or, in a plan with a mask, any columns of that
// number. In a plan of vectors these are the columns that are kept of vector n; the table behind
// them is not stored, and each of its rows has width() columns. Invariant: every size lies within
// [min_dim, max_dim] of its shape. Immutable; any thread may read.
class SizePlan {
 public:
  // Throws if a count or a size does not fit the shape.
  SizePlan(const TableShape& shape, std::vector<std::uint16_t> user_sizes,
           std::vector<std::uint16_t> item_sizes);
  // From the sizes of all rows, users first.
  SizePlan(const TableShape& shape, std::span<const std::uint16_t> sizes);

  // A plan with a mask, for a shape with masks. The mask is [rows, max_dim], users first: 1 where
  // the row keeps the column, else 0.
  static SizePlan masked(const TableShape& shape, std::vector<std::uint8_t> mask);

  const TableShape& shape() const { return shape_; }
  std::span<const std::uint16_t> user_sizes() const { return user_sizes_; }
  std::span<const std::uint16_t> item_sizes() const { return item_sizes_; }
  // The parameters of all tables together.
  std::uint64_t num_params() const { return num_params_; }

  // How the rows are stored, and used in training: fp32 unless with_precision() made the plan.
  const TablePrecision& precision() const { return precision_; }
  SizePlan with_precision(const TablePrecision& precision) const;

  // kTable unless with_form() made the plan.
  StoredForm form() const { return form_; }
  SizePlan with_form(StoredForm form) const;

  // As given to masked(); empty where rows keep their first columns.
  std::span<const std::uint8_t> mask() const { return mask_; }

  // The number of rows of each size, from 0 to max_dim.
  std::span<const std::uint32_t> user_counts() const { return user_counts_; }
  std::span<const std::uint32_t> item_counts() const { return item_counts_; }

  // The bytes of the table as stored, masks included: in its own precision, or in another.
  std::uint64_t stored_bytes() const { return stored_bytes(precision_); }
  std::uint64_t stored_bytes(const TablePrecision& precision) const;

  std::uint32_t largest_size() const { return largest_size_; }
  // The columns of the table that are needed to train this plan. With a mask it may exceed the
  // largest size.
  std::uint32_t width() const { return width_; }

  friend bool operator==(const SizePlan& a, const SizePlan& b) {
    return a.user_sizes_ == b.user_sizes_ && a.item_sizes_ == b.item_sizes_ && a.mask_ == b.mask_ &&
           a.precision_ == b.precision_ && a.form_ == b.form_;
  }

 private:
  TableShape shape_;
  std::vector<std::uint16_t> user_sizes_;
  std::vector<std::uint16_t> item_sizes_;
  std::vector<std::uint32_t> user_counts_;
  std::vector<std::uint32_t> item_counts_;
  std::vector<std::uint8_t> mask_;
  TablePrecision precision_;
  StoredForm form_ = StoredForm::kTable;
  std::uint64_t num_params_ = 0;
  std::uint32_t largest_size_ = 0;
  std::uint32_t width_ = 0;
};

// Every row at max_dim.
SizePlan full_plan(const TableShape& shape);

// Equal sizes (ES): floor(params / (rows * tables)) for every row, so less than one parameter per
// row and table stays unused.
SizePlan equal_plan(const TableShape& shape, std::uint64_t params);

// Mixed and random sizes (MR): drawn uniformly, regardless of frequency, then changed by one at
// uniformly chosen rows until the plan has `params` parameters, rounded down to a multiple of the
// shape's tables.
SizePlan mixed_random_plan(const TableShape& shape, std::uint64_t params, std::uint64_t seed);

}  // namespace bet
