#include "model/batch.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "base/error.h"
#include "model/executor.h"
#include "model/tensor_pointers.h"

namespace bet {

Batch::Batch(std::uint32_t size, std::uint32_t pool, std::int64_t num_rows,
             const at::Device& device)
    : size_(size), pool_(pool) {
  BET_CHECK(pool == 1 || (pool > 0 && pool % kPool == 0 && pool <= kMostPool), "pools of ", pool,
            " negatives; there are 1 and multiples of ", kPool, " up to ", kMostPool);
  BET_CHECK(size > 0 && size < (std::uint32_t{1} << 29), "a batch of ", size, " entries");
  const std::int64_t num_slots =
      std::int64_t{2} * size + std::int64_t{(size + pool - 1) / pool} * pool;
  const auto options = at::TensorOptions(device);
  rows = at::zeros({num_slots}, options.dtype(at::kInt));
  seen_mask = at::zeros({std::int64_t{size} * std::max(1U, pool / kPool)}, options.dtype(at::kInt));
  offsets = at::zeros({num_rows + 1}, options.dtype(at::kLong));
  slots = at::zeros({num_slots + static_cast<std::int64_t>(kColumnSlack)}, options.dtype(at::kInt));
  touched = at::zeros({num_rows}, options.dtype(at::kByte));
  numbers = at::arange(num_slots, options.dtype(at::kInt));
}

void Batch::group() { executor_for(rows.device()).group_slots(*this); }

at::Tensor Batch::sum_slots(const at::Tensor& by_slot, const at::Tensor& factor,
                            bool past_cache) const {
  at::Tensor by_row = at::empty({num_rows(), by_slot.size(1)}, by_slot.options());
  GatherArgs args;
  args.offsets = u64_data(offsets);
  args.columns = u32_data(slots);
  args.in = by_slot.data_ptr<float>();
  args.factor = factor.data_ptr<float>();
  args.out = by_row.data_ptr<float>();
  args.stride = static_cast<std::uint32_t>(by_slot.size(1));
  args.past_cache = past_cache;
  executor_for(by_slot.device()).gather_rows(args, static_cast<std::size_t>(num_rows()));
  return by_row;
}

}  // namespace bet
