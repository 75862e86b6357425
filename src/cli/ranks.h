#pragma once

#include <cstdint>
#include <memory>

#include "ranks/world.h"

namespace bet {

constexpr std::uint32_t kRankTimeoutSeconds = 60;

// Joins the other processes of the run, if the environment says that there are any
// (ranks/place_in_world.h); else null. Takes a GPU of its own where this machine has several, and
// leaves Ctrl-C to rank 0, whose terminal sends it to all.
std::shared_ptr<World> join_ranks(std::uint32_t timeout_seconds);

}  // namespace bet
