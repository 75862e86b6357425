#pragma once

#include "data/split.h"
#include "data/synthetic.h"
#include "model/graph.h"
#include "plan/size_plan.h"

namespace bet::test {

// The split of a small synthetic data set in which some users have no held-out items.
inline Split toy_split(std::uint32_t users = 120, std::uint32_t items = 80,
                       std::uint64_t interactions = 1500) {
  return make_split(synthetic_dataset({users, items, interactions, 6, 3}), SplitKind::kRandom, 1);
}

// A plan with random sizes from 1 to `largest`.
inline SizePlan toy_plan(const Split& split, std::uint32_t largest, std::uint32_t tables = 1) {
  const TableShape shape{split.num_users(), split.num_items(), largest, 1, tables};
  return mixed_random_plan(shape, shape.total_size(largest + 1) / 2 * tables, 5);
}

}  // namespace bet::test
