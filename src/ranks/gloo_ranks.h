#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "base/rank_group.h"

namespace bet {

struct GlooOptions {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  // A host name or an address of this machine under which the other ranks reach it.
  std::string address = "127.0.0.1";
  std::chrono::milliseconds timeout = std::chrono::minutes(5);  // of joining, and of each call
};

// Ranks on CPUs, which send by Gloo (c10d::ProcessGroupGloo). Joins: returns when all ranks met in
// `store`, in which a group has keys of its own (a prefix). Throws, naming the rank and its
// address, if they did not within the timeout, and in builds without Gloo.
std::unique_ptr<RankGroup> join_gloo_ranks(const c10::intrusive_ptr<c10d::Store>& store,
                                           const GlooOptions& options);

}  // namespace bet
