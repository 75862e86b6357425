#include "model/batch.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

#include "base/error.h"
#include "model/executor.h"

namespace bet {

Batch::Batch(std::uint32_t size, std::uint32_t pool, std::int64_t num_rows,
             const at::Device& device)
    : size_(size), pool_(pool) {
  BET_CHECK(pool == 1 || pool == kPool, "pools of ", pool, " negatives; there are 1 and ", kPool);
  BET_CHECK(size > 0 && size < (std::uint32_t{1} << 29), "a batch of ", size, " entries");
  const std::int64_t num_places =
      std::int64_t{2} * size + std::int64_t{(size + pool - 1) / pool} * pool;
  const auto options = at::TensorOptions(device);
  rows = at::zeros({num_places}, options.dtype(at::kInt));
  known = at::zeros({size}, options.dtype(at::kInt));
  offsets = at::zeros({num_rows + 1}, options.dtype(at::kLong));
  places =
      at::zeros({num_places + static_cast<std::int64_t>(kColumnSlack)}, options.dtype(at::kInt));
  touched = at::zeros({num_rows}, options.dtype(at::kByte));
  numbers = at::arange(num_places, options.dtype(at::kInt));
}

void Batch::group() { executor_for(rows.device()).group_places(*this); }

}  // namespace bet
