#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "data/split.h"

namespace bet {

// The users to rank for and the items that are held out for each, ascending.
struct HeldOutItems {
  std::vector<UserId> users;           // with at least one held-out item
  std::vector<std::uint64_t> offsets;  // items of the i-th of them: from offsets[i]
  std::vector<ItemId> items;

  // The same on the device that ranks; undefined on the CPU.
  at::Tensor device_users;    // int32
  at::Tensor device_offsets;  // int64
  at::Tensor device_items;    // int32
};

}  // namespace bet
