#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/kernels.h"

namespace bet {

// A batch of (user, positive item) entries with their negatives, as rows of the joint table: items
// are offset by the number of users. With a pool of 1 each entry has its own negative; with larger
// ones, multiples of kPool, blocks of `pool` entries share `pool` negatives. Reused from step to
// step; tensors on one device.
class Batch {
 public:
  // Room for `size` entries over a table of `num_rows` rows.
  Batch(std::uint32_t size, std::uint32_t pool, std::int64_t num_rows, const at::Device& device);

  std::uint32_t size() const { return size_; }
  std::uint32_t pool() const { return pool_; }
  std::int64_t num_rows() const { return touched.size(0); }
  // A slot is a position in the batch that holds a row: first the users, then the positives, then
  // the negatives.
  std::uint32_t num_slots() const { return static_cast<std::uint32_t>(rows.size(0)); }

  at::Tensor rows;  // int32, by slot
  // int32, by entry pool / kPool words: bit k % 32 of word k / 32 is set if the user has an
  // interaction with the pool's k-th negative.
  at::Tensor seen_mask;

  // The slots of row r are slots[offsets[r]] to slots[offsets[r + 1]], in ascending order, so that
  // sums over a row do not depend on threads.
  at::Tensor offsets;  // int64 [num_rows + 1]
  at::Tensor slots;    // int32, and kColumnSlack more
  at::Tensor touched;  // uint8 [num_rows]: whether the row has a slot
  at::Tensor numbers;  // int32: 0, 1, 2, ... by slot; sorted along with the rows on a GPU

  // Computes offsets, slots and touched from `rows`.
  void group();

  // Sums rows by slot, float [num_slots, stride], into rows of the table and multiplies them by
  // *factor. Set `past_cache` where the result is not read soon.
  at::Tensor sum_slots(const at::Tensor& by_slot, const at::Tensor& factor,
                       bool past_cache = false) const;

 private:
  std::uint32_t size_;
  std::uint32_t pool_;
};

}  // namespace bet
