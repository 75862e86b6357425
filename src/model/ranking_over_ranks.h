#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/graph.h"
#include "model/held_out_items.h"
#include "model/scoring.h"

namespace bet {

// Executor::top_hits where each of `scoring.ranks` has its columns of all vectors: the same bits as
// of one process with the same vectors, on every rank.
//
// Summing the scores of all users and items would send users x items numbers. Instead each rank
// ranks an equal share of the users: it gets the other columns of their vectors, and those of all
// items in blocks. A rank is sent about (users / ranks + items) * 4 bytes * width, and takes the
// memory of its users' vectors: as much as its columns of all users.
std::vector<std::uint32_t> top_hits_over_ranks(const at::Tensor& vectors, const Scoring& scoring,
                                               const HeldOutItems& held, const Graph& seen,
                                               std::uint32_t k);

}  // namespace bet
