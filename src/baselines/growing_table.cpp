#include "baselines/growing_table.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "base/error.h"

namespace bet {

GrowingTable::GrowingTable(const ModelParameters& table, const TableShape& shape,
                           std::vector<std::uint32_t> sizes, std::optional<std::uint64_t> total)
    : table_(table), shape_(shape), total_(total), initial_(table.values.clone()) {
  BET_CHECK(!total || shape.total_size(sizes.at(0)) <= *total, "size ", sizes.at(0),
            " for every row is ", shape.total_size(sizes.at(0)) * shape.tables,
            " parameters; the budget has ", total.value_or(0) * shape.tables);
  list_ = at::zeros({static_cast<std::int64_t>(sizes.size())}, at::kLong);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    list_.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(sizes[i]);
  }
  list_ = list_.to(table.values.device());
  size_indices_ = at::zeros({table.num_rows()}, list_.options());
  set_sizes();
  table_.values.mul_(kept_columns(size_indices_));
}

at::Tensor GrowingTable::kept_columns(const at::Tensor& indices) const {
  return at::arange(table_.stride(), list_.options())
      .unsqueeze(0)
      .lt((list_.index_select(0, indices) * static_cast<std::int64_t>(shape_.tables)).unsqueeze(1));
}

at::Tensor GrowingTable::gained_columns(const at::Tensor& from, const at::Tensor& to) const {
  return kept_columns(to).logical_and(kept_columns(from).logical_not());
}

at::Tensor GrowingTable::next_indices(const at::Tensor& rows) const {
  return (size_indices_ + rows.to(at::kLong)).clamp_max(list_.size(0) - 1);
}

void GrowingTable::set_sizes() {
  table_.sizes[0].copy_(sizes() * static_cast<std::int64_t>(shape_.tables));
}

void GrowingTable::grow(const at::Tensor& rows, const at::Tensor& ranks) {
  at::Tensor next = next_indices(rows);
  if (total_) {
    const at::Tensor more = list_.index_select(0, next) - sizes();
    const at::Tensor order =
        std::get<1>(at::sort(at::where(more.gt(0), ranks, -1), /*stable=*/true, 0,
                             /*descending=*/true));
    const at::Tensor sum = more.index_select(0, order).cumsum(0) + sizes().sum();
    const at::Tensor fits =
        at::zeros_like(rows).index_copy_(0, order, sum.le(static_cast<std::int64_t>(*total_)));
    next = at::where(fits, next, size_indices_);
  }
  table_.values.copy_(at::where(gained_columns(size_indices_, next), initial_, table_.values));
  size_indices_.copy_(next);
  set_sizes();
}

GrowingTable::Enlarged GrowingTable::enlarged(const at::Tensor& rows) const {
  const at::Tensor next = next_indices(rows);
  Enlarged result{table_, gained_columns(size_indices_, next)};
  result.table.values = at::where(result.gained, initial_, table_.values);
  result.table.sizes = (list_.index_select(0, next) * static_cast<std::int64_t>(shape_.tables))
                           .to(table_.sizes.scalar_type())
                           .unsqueeze(0);
  return result;
}

SizePlan GrowingTable::plan() const {
  const at::Tensor here = sizes().to(at::kCPU);
  const std::int64_t* const values = here.data_ptr<std::int64_t>();
  return {shape_, std::vector<std::uint16_t>(values, values + here.numel())};
}

void GrowingTable::save(Checkpoint& checkpoint) const {
  checkpoint.tensors["places"] = size_indices_.to(at::kFloat).cpu().unsqueeze(0);
}

void GrowingTable::restore(const Checkpoint& checkpoint) {
  const at::Tensor& indices = checkpoint.tensor("places");
  BET_CHECK(indices.numel() == size_indices_.numel(),
            "checkpoint of another table: ", indices.numel(), " rows, not ", size_indices_.numel());
  size_indices_.copy_(indices[0]);
  set_sizes();
}

}  // namespace bet
