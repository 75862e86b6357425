#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "model/model_parameters.h"
#include "plan/size_plan.h"
#include "train/checkpoint.h"

namespace bet {

// A full-width table in training whose rows begin at the smallest of a list of sizes and grow along
// it. Columns beyond a row's size are zero; those that it gains have the values that they were
// drawn with. Changes the table's tensors in place, because a GPU replays steps on their memory.
class GrowingTable {
 public:
  // `table`, of a single model, has the values drawn for a full plan of `shape`; its tensors are
  // shared. `sizes` are ascending. The sum of all rows' sizes never exceeds `total`. Throws if the
  // smallest sizes already do.
  GrowingTable(const ModelParameters& table, const TableShape& shape,
               std::vector<std::uint32_t> sizes, std::optional<std::uint64_t> total);

  // By row: the index of its size in the list of sizes, int64 [rows], and the size itself.
  const at::Tensor& size_indices() const { return size_indices_; }
  at::Tensor sizes() const { return list_.index_select(0, size_indices_); }

  // Enlarges rows (bool [rows]) that are not at the largest size. If `total` does not allow all,
  // those of higher rank (int64 [rows]) come first, then lower rows, up to the first that does not
  // fit.
  void grow(const at::Tensor& rows, const at::Tensor& ranks);

  // A copy of the table with these rows enlarged, and its new columns (bool [rows, stride]).
  struct Enlarged {
    ModelParameters table;
    at::Tensor gained;
  };
  Enlarged enlarged(const at::Tensor& rows) const;

  SizePlan plan() const;

  void save(Checkpoint& checkpoint) const;
  // Does not restore the table's values; the model in training does.
  void restore(const Checkpoint& checkpoint);

 private:
  at::Tensor next_indices(const at::Tensor& rows) const;
  // The columns that rows have at size indices `to` and not at `from`: bool [rows, stride].
  at::Tensor gained_columns(const at::Tensor& from, const at::Tensor& to) const;
  at::Tensor kept_columns(const at::Tensor& indices) const;
  void set_sizes();

  ModelParameters table_;
  TableShape shape_;
  std::optional<std::uint64_t> total_;
  at::Tensor list_;     // int64, the sizes
  at::Tensor initial_;  // the values that were drawn
  at::Tensor size_indices_;
};

}  // namespace bet
